package dev.flotilla.shape.probe;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.wire.http.ReplyMalformed;
import dev.flotilla.wire.http.SseReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Takes the {@link Shape} of one reply. Whatever bytes came, a shape comes of them: what is no
 * reply of the API is a fact about the body. For one reply and one thread.
 */
public final class ShapeReader {
  private static final String BODY = "body";

  private final Probe probe;
  private final ProbeLimits limits;
  private final Forms forms;
  private final Map<String, String> facts = new LinkedHashMap<>();
  private final TreeMap<Integer, Answer> answers = new TreeMap<>();
  private final EventOrder order = new EventOrder();
  private Optional<JsonNode> usage = Optional.empty();
  private final Set<String> eventIds = new HashSet<>();
  private boolean eventWithoutId;

  private ShapeReader(Probe probe, ProbeTarget target, ProbeLimits limits) {
    this.probe = probe;
    this.limits = limits;
    this.forms = new Forms(target.model(), limits.factsMax());
  }

  /** The shape of the reply to that probe. */
  public static Shape read(ProbeReply reply, Probe probe, ProbeTarget target, ProbeLimits limits) {
    return new ShapeReader(probe, target, limits).read(reply);
  }

  private Shape read(ProbeReply reply) {
    facts.put("status", Integer.toString(reply.status()));
    facts.put("content-type", mediaType(reply.contentType()));
    String text = new String(reply.body(), UTF_8);
    String start = text.stripLeading();
    if (start.startsWith("data:") || start.startsWith(":") || start.startsWith("event:")) {
      events(reply);
    } else {
      document(reply, text);
    }
    if (!answers.isEmpty()) {
      facts.putAll(AnswerFacts.of(probe, answers.values()));
    }
    if (reply.status() == 200 && probe.form() != Probe.Form.EMBEDDING) {
      facts.putAll(AnswerFacts.usage(probe, answers.values(), usage));
    }
    forms.facts().forEach(facts::putIfAbsent);
    return new Shape(facts);
  }

  private void document(ProbeReply reply, String text) {
    if (reply.cut().isPresent()) {
      facts.put(BODY, Forms.printable("cut: " + reply.cut().get(), 120));
      return;
    }
    if (text.isBlank()) {
      facts.put(BODY, "empty");
      return;
    }
    if (!isUtf8(reply.body())) {
      facts.put(BODY, "not UTF-8");
      return;
    }
    try {
      JsonNode document = Json.MAPPER.readTree(text);
      if (!document.isObject()) {
        facts.put(BODY, "JSON, but no object");
        return;
      }
      facts.put(BODY, "one JSON object");
      forms.take("", document);
      if (probe.form() != Probe.Form.EMBEDDING) {
        message(document);
      } else if (reply.status() == 200) {
        facts.putAll(EmbeddingFacts.of(probe, document));
      }
    } catch (StreamConstraintsException _) {
      facts.put(BODY, "JSON nested too deep, or with a number too long");
    } catch (JacksonException e) {
      facts.put(BODY, noJson(text, e));
    }
  }

  private static String noJson(String text, JacksonException e) {
    String lower = text.stripLeading().toLowerCase(Locale.ROOT);
    if (lower.startsWith("<!doctype") || lower.startsWith("<html") || lower.startsWith("<head")) {
      return "a page of HTML";
    }
    String why = String.valueOf(e.getOriginalMessage());
    if (why.startsWith("Duplicate")) {
      return "JSON with a field twice";
    }
    return why.startsWith("Unexpected end") ? "JSON that breaks off" : "no JSON";
  }

  private void message(JsonNode document) {
    usage = Optional.ofNullable(document.get("usage"));
    int place = 0;
    for (JsonNode choice : document.path("choices")) {
      Answer answer = answer(choice.path("index").asInt(place));
      place++;
      if (probe.form() == Probe.Form.CHAT) {
        answer.take(choice.path("message"), false);
      } else {
        answer.takeText(choice.path("text").asString(""));
      }
      answer.finish = choice.path("finish_reason").asString(answer.finish);
    }
  }

  private Answer answer(int index) {
    // More answers than were asked for are counted by the list's length, and not kept.
    int kept = Math.clamp(index, -1, 16);
    return answers.computeIfAbsent(kept, _ -> new Answer());
  }

  private void events(ProbeReply reply) {
    String ending = "events";
    try {
      SseReader events =
          new SseReader(new ByteArrayInputStream(reply.body()), limits.replyBytesMax());
      int count = 0;
      while (events.next()) {
        if (!events.hasData()) {
          continue;
        }
        if (count++ == limits.eventsMax()) {
          ending = "more than " + limits.eventsMax() + " events";
          break;
        }
        event(events);
      }
      if (events.leftover() > 0 && reply.cut().isEmpty()) {
        ending = "events, the last one broken off";
      }
    } catch (ReplyMalformed e) {
      ending = Forms.printable(String.valueOf(e.getMessage()), 120);
    } catch (IOException e) {
      throw new IllegalStateException("bytes in memory can be read", e);
    }
    if (reply.cut().isPresent()) {
      ending = Forms.printable("events, cut: " + reply.cut().get(), 120);
    }
    facts.put(BODY, ending);
    facts.putAll(order.facts());
    if (!eventIds.isEmpty() || eventWithoutId) {
      facts.put(
          "event ids",
          eventWithoutId ? "missing in some" : eventIds.size() == 1 ? "one for all" : "several");
    }
  }

  private void event(SseReader events) {
    if (events.isDone()) {
      order.add("[DONE]");
      return;
    }
    if (!events.validUtf8()) {
      order.add("not-UTF-8");
      return;
    }
    String data = new String(events.dataBuffer(), events.dataStart(), events.dataLength(), UTF_8);
    JsonNode event = Json.read(data);
    if (!event.isObject()) {
      order.add("no-JSON-object");
      return;
    }
    if (event.has("error") && !event.path("choices").isArray()) {
      order.add("error");
      forms.take("", event);
      return;
    }
    eventWithoutId |= !event.path("id").isString();
    if (event.path("id").isString() && eventIds.size() < 2) {
      eventIds.add(event.path("id").stringValue());
    }
    if (event.path("usage").isObject()) {
      usage = Optional.of(event.path("usage"));
    }
    if (event.path("choices").isEmpty()) {
      order.add(event.path("usage").isObject() ? "usage" : "empty");
      ObjectNode bare = ((ObjectNode) event).deepCopy();
      JsonNode counts = bare.remove("usage");
      forms.take("usage chunk.", bare);
      if (counts != null && counts.isObject()) {
        forms.take("usage.", counts);
      }
      return;
    }
    forms.take("chunk.", event);
    int place = 0;
    for (JsonNode choice : event.path("choices")) {
      choice(choice, choice.path("index").asInt(place++));
    }
  }

  private void choice(JsonNode choice, int index) {
    Answer answer = answer(index);
    if (probe.form() == Probe.Form.CHAT) {
      answer.take(choice.path("delta"), true);
    } else {
      answer.takeText(choice.path("text").asString(""));
    }
    answer.finish = choice.path("finish_reason").asString(answer.finish);
    order.add(Math.clamp(index, -1, 16), choice);
  }

  private static String mediaType(String header) {
    int parameters = header.indexOf(';');
    String type = (parameters < 0 ? header : header.substring(0, parameters)).strip();
    return type.isEmpty() ? Shape.ABSENT : Forms.printable(type.toLowerCase(Locale.ROOT), 60);
  }

  private static boolean isUtf8(byte[] bytes) {
    try {
      UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException _) {
      return false;
    }
  }
}

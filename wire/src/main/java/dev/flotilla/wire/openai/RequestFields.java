package dev.flotilla.wire.openai;

import dev.flotilla.wire.openai.RequestScan.Field;
import dev.flotilla.wire.openai.RequestScan.Span;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a request's body says, while {@link RequestReader} reads it; never changed afterwards. */
final class RequestFields {
  /** The top level's fields, in their order. */
  final List<Field> all = new ArrayList<>();

  /** The same by name: a request is asked for some twenty fields, most of which are not there. */
  final Map<String, Field> byName = new HashMap<>();

  String model = "";
  boolean stream;
  boolean includeUsage;

  int n = 1;

  /** -1 where absent or unlimited, as the next. */
  long maxTokens = -1;

  long maxCompletionTokens = -1;
  int messages;

  /** Where messages say that they are a developer's. */
  final List<Span> developerRoles = new ArrayList<>(0);

  /** The last message's role, empty where there are no messages. */
  String lastRole = "";

  boolean lastCallsTools;

  /** Whether a message has a part that is no text. */
  boolean media;

  boolean tools;
  int contentBytes;
  int toolsBytes;
}

package dev.flotilla.shape.report;

import dev.flotilla.shape.probe.Difference;
import dev.flotilla.shape.report.Compared.Different;
import dev.flotilla.shape.report.Compared.NotCompared;
import dev.flotilla.shape.report.Compared.Same;
import java.io.StringWriter;
import java.util.Locale;
import java.util.stream.Collectors;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** A {@link CompareReport} as the XML that build servers read as test results. */
public final class JUnitReport {
  private static final int DIFFERENCES_MAX = 50;

  private JUnitReport() {}

  /** One test for each probe: failed where it differs, skipped where it was not compared. */
  public static String xml(CompareReport report) {
    StringWriter text = new StringWriter();
    try {
      XMLStreamWriter xml = XMLOutputFactory.newInstance().createXMLStreamWriter(text);
      xml.writeStartDocument("UTF-8", "1.0");
      xml.writeCharacters("\n");
      xml.writeStartElement("testsuite");
      xml.writeAttribute("name", "flotilla compare");
      xml.writeAttribute("tests", Integer.toString(report.compared().size()));
      xml.writeAttribute("failures", Long.toString(report.different()));
      xml.writeAttribute("skipped", Long.toString(report.notCompared()));
      xml.writeAttribute("errors", "0");
      for (Compared each : report.compared()) {
        xml.writeCharacters("\n  ");
        testCase(xml, report, each);
      }
      xml.writeCharacters("\n");
      xml.writeEndElement();
      xml.writeCharacters("\n");
      xml.writeEndDocument();
      xml.close();
    } catch (XMLStreamException e) {
      throw new IllegalStateException("XML can be written into memory", e);
    }
    return text.toString();
  }

  private static void testCase(XMLStreamWriter xml, CompareReport report, Compared each)
      throws XMLStreamException {
    xml.writeStartElement("testcase");
    xml.writeAttribute("classname", "shape." + each.probe().form().name().toLowerCase(Locale.ROOT));
    xml.writeAttribute("name", each.probe().name());
    xml.writeAttribute(
        "time",
        String.format(
            Locale.ROOT,
            "%.3f",
            (each.first().took().toMillis() + each.second().took().toMillis()) / 1e3));
    switch (each.sameness()) {
      case Same _ -> {
        // A test that passed has nothing in it.
      }
      case NotCompared not -> {
        xml.writeEmptyElement("skipped");
        xml.writeAttribute("message", clean(not.why()));
      }
      case Different different -> {
        Difference first = different.differences().getFirst();
        xml.writeStartElement("failure");
        xml.writeAttribute("type", "different");
        xml.writeAttribute(
            "message",
            clean(
                "%s: %s at %s, %s at %s"
                    .formatted(
                        first.place(),
                        first.expected(),
                        report.first().name(),
                        first.seen(),
                        report.second().name())));
        xml.writeCharacters(
            clean(
                different.differences().stream()
                    .limit(DIFFERENCES_MAX)
                    .flatMap(difference -> CompareReport.diff(difference).stream())
                    .collect(Collectors.joining("\n", "\n", "\n"))));
        xml.writeEndElement();
      }
    }
    xml.writeEndElement();
  }

  /** XML has no place for most control characters, however they are escaped. */
  private static String clean(String text) {
    return text.codePoints()
        .map(point ->
            point == '\n' || (point >= ' ' && !Character.isISOControl(point) && point < 0xfffe)
                ? point
                : '?')
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}

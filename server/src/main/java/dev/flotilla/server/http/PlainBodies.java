package dev.flotilla.server.http;

import io.helidon.http.encoding.ContentDecoder;
import io.helidon.http.encoding.ContentEncoder;
import io.helidon.http.encoding.ContentEncoding;
import io.helidon.http.encoding.ContentEncodingContext;
import java.util.Set;

/** Bodies as they are, which some clients call {@code Content-Encoding: identity}. */
final class PlainBodies implements ContentEncoding {
  /** What a listener reads: these, and none that are encoded. */
  static final ContentEncodingContext ALONE =
      ContentEncodingContext.builder()
          .contentEncodingsDiscoverServices(false)
          .addContentEncoding(new PlainBodies())
          .build();

  private PlainBodies() {}

  @Override
  public Set<String> ids() {
    return Set.of("identity");
  }

  @Override
  public boolean supportsEncoding() {
    return false;
  }

  @Override
  public boolean supportsDecoding() {
    return true;
  }

  @Override
  public ContentDecoder decoder() {
    return ContentDecoder.NO_OP;
  }

  @Override
  public ContentEncoder encoder() {
    return ContentEncoder.NO_OP;
  }

  @Override
  public String name() {
    return "identity";
  }

  @Override
  public String type() {
    return "identity";
  }
}

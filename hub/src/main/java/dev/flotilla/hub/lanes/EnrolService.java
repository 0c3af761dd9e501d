package dev.flotilla.hub.lanes;

import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import java.util.function.LongSupplier;

/** {@code POST /api/enrol}; register at {@code /}. */
public final class EnrolService implements HttpService {

  public EnrolService(NodeCredentials credentials, LaneLimits limits, LongSupplier nanoTime) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void routing(HttpRules rules) {
    throw new UnsupportedOperationException();
  }
}

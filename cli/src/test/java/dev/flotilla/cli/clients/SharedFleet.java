package dev.flotilla.cli.clients;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Hands all tests the same fleet, which the first starts and the end of the run closes. */
final class SharedFleet implements ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(SharedFleet.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == KeyedFleet.class;
  }

  @Override
  public KeyedFleet resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .computeIfAbsent(KeyedFleet.class, type -> start(), KeyedFleet.class);
  }

  private static KeyedFleet start() {
    try {
      return KeyedFleet.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

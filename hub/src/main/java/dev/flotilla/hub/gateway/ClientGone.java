package dev.flotilla.hub.gateway;

/** The client went away; nobody is left to be told anything. */
final class ClientGone extends Exception {
  private static final long serialVersionUID = 1;

  ClientGone() {
    super("the client went away", null, false, false);
  }
}

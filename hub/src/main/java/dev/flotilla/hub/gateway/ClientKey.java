package dev.flotilla.hub.gateway;

/**
 * Who asks.
 *
 * @param name the key's name, as in the usage log; never the key itself
 */
public record ClientKey(String name) {}

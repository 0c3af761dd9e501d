/** The command line against hubs that it can't talk with, or not as it was told to. */
@org.jspecify.annotations.NullMarked
package dev.flotilla.cli.client;

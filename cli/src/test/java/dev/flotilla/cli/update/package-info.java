@org.jspecify.annotations.NullMarked
package dev.flotilla.cli.update;

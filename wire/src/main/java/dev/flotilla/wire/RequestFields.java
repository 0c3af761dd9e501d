package dev.flotilla.wire;

import org.jspecify.annotations.Nullable;

/** What a request's body says, while {@link RequestReader} reads it; never changed afterwards. */
final class RequestFields {
  String model = "";

  /** Where the model's name lies in the body, its quotes included. */
  int modelStart;

  int modelEnd;
  boolean stream;
  boolean includeUsage;

  /** What makes the body ask for usage. */
  @Nullable Splice usageSplice;

  int n = 1;

  /** -1 where absent or unlimited, as the next. */
  long maxTokens = -1;

  long maxCompletionTokens = -1;
  int messages;
  boolean tools;
  int contentBytes;
  int toolsBytes;
}

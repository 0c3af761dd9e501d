package dev.flotilla.hub.store;

/** What the journal takes: rows that nobody waits for. */
sealed interface JournalRow permits Event, Usage, WorkerChange {}

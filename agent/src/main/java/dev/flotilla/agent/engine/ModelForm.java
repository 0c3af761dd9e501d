package dev.flotilla.agent.engine;

/** What an engine reads a model from. */
public enum ModelForm {
  /** One GGUF file. */
  GGUF,
  /** A folder as Hugging Face has it: {@code config.json}, safetensors, a tokenizer. */
  FOLDER
}

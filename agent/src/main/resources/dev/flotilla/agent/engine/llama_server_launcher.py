"""llama-server's command line for the server that the package xllamacpp holds.

Takes llama-server's own options, reads the key from LLAMA_API_KEY, logs to stderr, exits 1 where the options, the
model or the port are no good, and serves until it is told to end. Options that are not in the table are refused in
llama-server's words. Where FLOTILLA_PARENT names a process, the server ends with it: when that process is no longer
the parent, or closes this one's standard input.
"""

import json
import os
import signal
import sys
import threading
import time


def fail(message):
    print("error: " + message, file=sys.stderr, flush=True)
    sys.exit(1)


def whole(text):
    return int(text, 10)


def one_of(enum, prefix, words):
    """A reader of words: each word is the enum's member PREFIX + NAME."""

    def read(text):
        if text not in words:
            raise ValueError("one of " + ", ".join(words))
        return getattr(enum, prefix + words[text])

    return read


def gpu_layers(text):
    return {"auto": -1, "all": -2}[text] if text in ("auto", "all") else whole(text)


def file_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def template_kwargs(text):
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("a JSON object")
    return {key: json.dumps(value) for key, value in values.items()}


def set_path(params, path, value):
    target = params
    names = path.split(".")
    for name in names[:-1]:
        target = getattr(target, name)
    setattr(target, names[-1], value)


def setter(path, read):
    return lambda params, text: set_path(params, path, read(text))


def constant(path, value):
    return lambda params: set_path(params, path, value)


def options(x):
    """(names, name of the value or None, what to do, help) of every option."""
    cache_types = {
        name: name.upper()
        for name in ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1")
    }
    cache_type = one_of(x.ggml_type, "GGML_TYPE_", cache_types)
    load_mode = one_of(
        x.llama_load_mode,
        "LLAMA_LOAD_MODE_",
        {"auto": "AUTO", "none": "NONE", "mmap": "MMAP", "mlock": "MLOCK", "mmap+mlock": "MMAP_MLOCK", "dio": "DIRECT_IO"},
    )
    flash = one_of(
        x.llama_flash_attn_type, "LLAMA_FLASH_ATTN_TYPE_", {"on": "ENABLED", "off": "DISABLED", "auto": "AUTO"}
    )
    pooling = one_of(
        x.llama_pooling_type,
        "LLAMA_POOLING_TYPE_",
        {"none": "NONE", "mean": "MEAN", "cls": "CLS", "last": "LAST", "rank": "RANK"},
    )
    reasoning_format = one_of(
        x.common_reasoning_format,
        "COMMON_REASONING_FORMAT_",
        {"none": "NONE", "auto": "AUTO", "deepseek": "DEEPSEEK", "deepseek-legacy": "DEEPSEEK_LEGACY"},
    )
    split = one_of(
        x.llama_split_mode,
        "LLAMA_SPLIT_MODE_",
        {"none": "NONE", "layer": "LAYER", "row": "ROW", "tensor": "TENSOR"},
    )
    rope = one_of(
        x.llama_rope_scaling_type, "LLAMA_ROPE_SCALING_TYPE_", {"none": "NONE", "linear": "LINEAR", "yarn": "YARN"}
    )
    numa = one_of(
        x.ggml_numa_strategy,
        "GGML_NUMA_STRATEGY_",
        {"distribute": "DISTRIBUTE", "isolate": "ISOLATE", "numactl": "NUMACTL"},
    )
    switch = {"on": 1, "off": 0, "auto": -1}

    def reasoning(params, text):
        if text not in switch:
            raise ValueError("one of on, off, auto")
        params.enable_reasoning = switch[text]

    def unused(params, text):
        if text not in switch:
            raise ValueError("one of on, off, auto")

    def host(params, text):
        params.hostnames = [text]

    def alias(params, text):
        params.model_alias = {name for name in text.split(",") if name}

    def tags(params, text):
        params.model_tags = {name for name in text.split(",") if name}

    def timeout(params, text):
        params.timeout_read = params.timeout_write = whole(text)

    return [
        (["-m", "--model"], "FNAME", setter("model.path", str), "model file"),
        (["-a", "--alias"], "STRING", alias, "name of the model in replies"),
        (["--tags"], "STRING", tags, "tags of the model in /v1/models"),
        (["--host"], "HOST", host, "address to listen on"),
        (["--port"], "PORT", setter("port", whole), "port to listen on"),
        (["-c", "--ctx-size"], "N", setter("n_ctx", whole), "context of all slots together"),
        (["-np", "--parallel"], "N", setter("n_parallel", whole), "slots"),
        (["-t", "--threads"], "N", setter("cpuparams.n_threads", whole), "threads"),
        (["-tb", "--threads-batch"], "N", setter("cpuparams_batch.n_threads", whole), "threads for prompts"),
        (["--threads-http"], "N", setter("n_threads_http", whole), "threads that serve HTTP"),
        (["-b", "--batch-size"], "N", setter("n_batch", whole), "logical batch"),
        (["-ub", "--ubatch-size"], "N", setter("n_ubatch", whole), "physical batch"),
        (["-ngl", "--gpu-layers", "--n-gpu-layers"], "N", setter("n_gpu_layers", gpu_layers), "layers on the GPU"),
        (["-sm", "--split-mode"], "MODE", setter("split_mode", split), "how layers are split over GPUs"),
        (["-mg", "--main-gpu"], "INDEX", setter("main_gpu", whole), "the GPU for one-GPU parts"),
        (["-nkvo", "--no-kv-offload"], None, constant("no_kv_offload", True), "keep the cache off the GPU"),
        (["-fa", "--flash-attn"], "on|off|auto", setter("flash_attn_type", flash), "flash attention"),
        (["-ctk", "--cache-type-k"], "TYPE", setter("cache_type_k", cache_type), "type of the cache's keys"),
        (["-ctv", "--cache-type-v"], "TYPE", setter("cache_type_v", cache_type), "type of the cache's values"),
        (["-kvu", "--kv-unified"], None, constant("kv_unified", True), "one cache for all slots"),
        (["--swa-full"], None, constant("swa_full", True), "whole context in windowed layers"),
        (["-cram", "--cache-ram"], "N", setter("cache_ram_mib", whole), "MiB of memory for idle prompts"),
        (["--cache-reuse"], "N", setter("n_cache_reuse", whole), "least chunk that is shifted"),
        (["--no-cache-prompt"], None, constant("cache_prompt", False), "process every prompt whole"),
        (["-ctxcp", "--ctx-checkpoints"], "N", setter("n_ctx_checkpoints", whole), "checkpoints of a slot"),
        (["-sps", "--slot-prompt-similarity"], "F", setter("slot_prompt_similarity", float), "when a slot is reused"),
        (["--context-shift"], None, constant("ctx_shift", True), "drop old tokens when the context is full"),
        (["--no-context-shift"], None, constant("ctx_shift", False), "end when the context is full"),
        (["--load-mode"], "MODE", setter("load_mode", load_mode), "how the file is read"),
        (["--no-mmap"], None, constant("load_mode", x.llama_load_mode.LLAMA_LOAD_MODE_NONE), "read, do not map"),
        (["--mlock"], None, constant("load_mode", x.llama_load_mode.LLAMA_LOAD_MODE_MMAP_MLOCK), "map and lock"),
        (["--numa"], "TYPE", setter("numa", numa), "placement on NUMA machines"),
        (["--no-warmup"], None, constant("warmup", False), "no empty run at the start"),
        (["--check-tensors"], None, constant("check_tensors", True), "check the weights while loading"),
        (["--rope-scaling"], "TYPE", setter("rope_scaling_type", rope), "scaling of positions"),
        (["--rope-freq-base"], "F", setter("rope_freq_base", float), "base of the frequencies"),
        (["--rope-freq-scale"], "F", setter("rope_freq_scale", float), "scale of the frequencies"),
        (["--yarn-orig-ctx"], "N", setter("yarn_orig_ctx", whole), "context that the model was trained with"),
        (["--jinja"], None, constant("use_jinja", True), "the model's own chat template"),
        (["--no-jinja"], None, constant("use_jinja", False), "built-in chat templates only"),
        (["--chat-template"], "TEXT", setter("chat_template", str), "a chat template"),
        (["--chat-template-file"], "FNAME", setter("chat_template", file_text), "a file with a chat template"),
        (["--chat-template-kwargs"], "JSON", setter("default_template_kwargs", template_kwargs), "its variables"),
        (["--reasoning-format"], "FORMAT", setter("reasoning_format", reasoning_format), "place of the reasoning"),
        (["-rea", "--reasoning"], "on|off|auto", reasoning, "whether the model thinks"),
        (["--reasoning-budget"], "N", setter("sampling.reasoning_budget_tokens", whole), "tokens to think"),
        (["--embedding", "--embeddings"], None, constant("embedding", True), "serve embeddings"),
        (["--pooling"], "TYPE", setter("pooling_type", pooling), "pooling of embeddings"),
        (["--mmproj"], "FNAME", setter("mmproj.path", str), "file of the multimodal projector"),
        (["--no-mmproj"], None, constant("no_mmproj", True), "no multimodal projector"),
        (["-s", "--seed"], "N", setter("sampling.seed", whole), "seed"),
        (["-n", "--predict", "--n-predict"], "N", setter("n_predict", whole), "most tokens of an answer"),
        (["--keep"], "N", setter("n_keep", whole), "tokens kept on a shift"),
        (["--temp", "--temperature"], "F", setter("sampling.temp", float), "temperature"),
        (["--top-k"], "N", setter("sampling.top_k", whole), "top-k"),
        (["--top-p"], "F", setter("sampling.top_p", float), "top-p"),
        (["--min-p"], "F", setter("sampling.min_p", float), "min-p"),
        (["--typical", "--typical-p"], "F", setter("sampling.typ_p", float), "locally typical"),
        (["--repeat-last-n"], "N", setter("sampling.penalty_last_n", whole), "tokens that are penalised"),
        (["--repeat-penalty"], "F", setter("sampling.penalty_repeat", float), "penalty for repeats"),
        (["--presence-penalty"], "F", setter("sampling.penalty_present", float), "penalty for presence"),
        (["--frequency-penalty"], "F", setter("sampling.penalty_freq", float), "penalty for frequency"),
        (["--metrics"], None, constant("endpoint_metrics", True), "serve /metrics"),
        (["--props"], None, constant("endpoint_props", True), "accept POST /props"),
        (["--slots"], None, constant("endpoint_slots", True), "serve /slots"),
        (["--no-slots"], None, constant("endpoint_slots", False), "do not serve /slots"),
        (["--no-ui", "--no-webui"], None, constant("ui", False), "no pages"),
        (["--sse-ping-interval"], "N", setter("sse_ping_interval", whole), "seconds between pings"),
        (["-to", "--timeout"], "N", timeout, "seconds that a connection may be silent"),
        (["--offline"], None, constant("offline", True), "fetch nothing"),
        (["--log-colors"], "on|off|auto", unused, "taken and not needed: no colours are written"),
        (["-lv", "--verbosity", "--log-verbosity"], "N", setter("verbosity", whole), "how much is logged"),
    ]


def usage(table):
    lines = ["usage: llama-server [options]", ""]
    lines.append("-h,    --help, --usage                  print usage and exit")
    lines.append("--version                               show version and build info")
    for names, value, _, text in table:
        shown = ", ".join(names) + (" " + value if value else "")
        lines.append(shown.ljust(40) + text)
    print("\n".join(lines))


def parse(x, arguments):
    table = options(x)
    by_name = {name: (value, act) for names, value, act, _ in table for name in names}
    params = x.CommonParams()
    params.hostnames = ["127.0.0.1"]
    rest = iter(arguments)
    for argument in rest:
        if argument in ("-h", "--help", "--usage"):
            usage(table)
            sys.exit(0)
        if argument == "--version":
            print("version: xllamacpp " + x.__version__, file=sys.stderr)
            sys.exit(0)
        if argument not in by_name:
            fail("invalid argument: " + argument)
        value, act = by_name[argument]
        if value is None:
            act(params)
            continue
        text = next(rest, None)
        if text is None:
            fail('while handling argument "%s": expected value for argument' % argument)
        try:
            act(params, text)
        except (ValueError, TypeError, OverflowError, OSError) as problem:
            fail('while handling argument "%s": %s' % (argument, problem))
    if not params.model.path:
        fail("no model: pass -m FNAME")
    return params


def end_with_parent():
    parent = os.environ.get("FLOTILLA_PARENT")
    if not parent:
        return

    def watch_input():
        try:
            while os.read(0, 4096):
                pass
        except OSError:
            pass
        os._exit(143)

    def watch_parent():
        while os.getppid() == int(parent):
            time.sleep(1)
        os._exit(143)

    for watch in (watch_input, watch_parent):
        threading.Thread(target=watch, daemon=True).start()


def main():
    import xllamacpp as x

    params = parse(x, sys.argv[1:])
    key = os.environ.pop("LLAMA_API_KEY", "")
    if key:
        params.api_keys = [key]
    # The handlers of Python would wait for the main thread, which waits for good.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent()
    try:
        server = x.Server(params)
    except RuntimeError as problem:
        fail("the server did not start: %s" % problem)
    while server:
        signal.pause()


if __name__ == "__main__":
    main()

"""Works out trace-expected.json from trace.json, with numpy and without any of our code.

Run once by hand, where the definitions or the trace change:
    python3 bench/src/test/python/expected_figures.py bench/src/test/resources/dev/flotilla/bench/measure
"""

import json
import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
trace = json.loads((folder / "trace.json").read_text())
requests = trace["requests"]
wall = trace["duration_nanos"] / 1e9
whole = [r for r in requests if "failure" not in r]
MS = 1e6


def stats(values):
    v = np.array(values or [0.0], dtype=float)
    return {
        "count": len(values),
        "mean": v.mean(),
        "median": np.median(v),
        "std": v.std(),
        "p90": np.percentile(v, 90),
        "p99": np.percentile(v, 99),
    }


def first(r):
    return r["chunks"][0][0]


def tpot(r):
    return (r["end"] - first(r)) / MS / (r["output_tokens"] - 1)


def token_gaps(r):
    chunks = r["chunks"]
    gaps = [0.0] * (chunks[0][1] - 1)
    for (t0, n0), (t1, n1) in zip(chunks, chunks[1:]):
        gaps += [(t1 - t0) / MS / (n1 - n0)] * (n1 - n0)
    return gaps


def peak(weights):
    start = min(r["sent"] for r in whole)
    buckets = {}
    for at, weight in weights:
        second = (at - start) // 1_000_000_000
        buckets[second] = buckets.get(second, 0) + weight
    return max(buckets.values())


def together(key):
    return max(sum(key(r) <= t < r["end"] for r in whole) for t in [key(r) for r in whole])


goals = trace["goals"]
ttft = [(first(r) - r["scheduled"]) / MS for r in whole]
e2el = [(r["end"] - r["scheduled"]) / MS for r in whole]
good = sum(
    a <= goals["ttft"] and (tpot(r) if r["output_tokens"] > 1 else 0) <= goals["tpot"] and b <= goals["e2el"]
    for r, a, b in zip(whole, ttft, e2el)
)
known = [r for r in whole if all(c[1] > 0 for c in r["chunks"])]
out = sum(r["output_tokens"] for r in whole)
inp = sum(r["input_tokens"] for r in whole)

# SiliconBench: nearest rank, token-weighted decode, from the sending; its own rule of failure.
silicon = [
    r
    for r in whole
    if not (r["max_tokens"] > 1 and len(r["chunks"]) <= 1 and r["finish_reason"] not in (None, "stop"))
]


def rank(values, p):
    v = sorted(values)
    return v[min(int(len(v) * p / 100), len(v) - 1)]


spans = [(r["chunks"][-1][0] - first(r)) / 1e9 for r in silicon]
decoded = [r["output_tokens"] - 1 if len(r["chunks"]) > 1 else 0 for r in silicon]
own_itl = [s * 1000 / (r["output_tokens"] - 1) for r, s in zip(silicon, spans) if len(r["chunks"]) > 1]
own_rate = [
    (r["output_tokens"] - 1) / ((r["end"] - first(r)) / 1e9) if r["output_tokens"] > 1 else 0.0 for r in silicon
]
s_ttft = [(first(r) - r["sent"]) / MS for r in silicon]
s_latency = [(r["end"] - r["sent"]) / 1e9 for r in silicon]

expected = {
    "completed": len(whole),
    "failed": len(requests) - len(whole),
    "duration": wall,
    "total_input_tokens": inp,
    "total_output_tokens": out,
    "request_throughput": len(whole) / wall,
    "request_goodput": good / wall,
    "output_throughput": out / wall,
    "total_token_throughput": (inp + out) / wall,
    "max_output_tokens_per_s": peak([(c[0], 1) for r in whole for c in r["chunks"]]),
    "max_concurrent_requests": together(lambda r: r["sent"]),
    "ttft": stats(ttft),
    "tpot": stats([tpot(r) for r in whole if r["output_tokens"] > 1]),
    "itl": stats([(b[0] - a[0]) / MS for r in whole for a, b in zip(r["chunks"], r["chunks"][1:])]),
    "e2el": stats(e2el),
    "from_send_ttft": stats([(first(r) - r["sent"]) / MS for r in whole]),
    "from_send_e2el": stats([(r["end"] - r["sent"]) / MS for r in whole]),
    "lateness": stats([(r["sent"] - r["scheduled"]) / MS for r in whole]),
    "by_token_requests": len(known),
    "by_token_itl": stats([g for r in known for g in token_gaps(r)]),
    "by_token_peak": peak(
        [(b[0], b[1] - a[1]) for r in known for a, b in zip([[0, 0]] + r["chunks"], r["chunks"])]
    ),
    "tokens_per_chunk": out / sum(len(r["chunks"]) for r in whole),
    "mean_decoding": sum(r["end"] - first(r) for r in whole) / 1e9 / wall,
    "peak_decoding": together(first),
    "silicon": {
        "successful": len(silicon),
        "failed": len(requests) - len(silicon),
        "total_output_tokens": sum(r["output_tokens"] for r in silicon),
        "tokens_per_chunk": sum(r["output_tokens"] for r in silicon) / sum(len(r["chunks"]) for r in silicon),
        "ttft_avg_ms": np.mean(s_ttft),
        "ttft_p50_ms": rank(s_ttft, 50),
        "ttft_p99_ms": rank(s_ttft, 99),
        "throughput_avg_tps": sum(decoded) / sum(spans),
        "throughput_p50_tps": rank(own_rate, 50),
        "itl_avg_ms": sum(spans) / sum(decoded) * 1000,
        "itl_p50_ms": rank(own_itl, 50),
        "latency_avg_s": np.mean(s_latency),
        "latency_p50_s": rank(s_latency, 50),
        "latency_p99_s": rank(s_latency, 99),
        "output_throughput_tps": sum(r["output_tokens"] for r in silicon) / wall,
    },
}
(folder / "trace-expected.json").write_text(json.dumps(expected, indent=1) + "\n")

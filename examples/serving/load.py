#!/usr/bin/env python3
"""Sends a fixed load to an OpenAI-compatible server and prints what the client sees.

Uses Python's standard library only. Responses are streamed, so that the first token is seen when it arrives:

    python3 load.py --url http://127.0.0.1:8000/v1/completions --requests 64 --concurrency 8 --tokens 128

Prints one line for each request, then medians and tails:

    request 0: TTFT 41.20 ms, 128 tokens, ITL 8.13 ms
    TTFT p50: 41.20 ms, p95: 60.11 ms
    ITL p50: 8.13 ms, p95: 9.02 ms
    throughput: 812.4 tokens/s

p95 is printed from 20 values on. `--wait` seconds is how long to try until the server answers.

With a command behind `--` it starts the server itself, and ends it after the load, so that `fathom run` and
`fathom record` need nobody at another terminal:

    fathom record -- python3 load.py --url http://127.0.0.1:8000/v1/completions -- python -m engine --model small
"""
import argparse
import http.client
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import urllib.parse


def body_of(args, number, chat):
    # The same prompts in each run; each request differs from the others, so that no prefix cache helps
    # unless --shared-prefix asks for it.
    words = " ".join(f"word{(number * 131 + i * 17) % 997}" for i in range(args.prompt_words))
    prompt = ("The same beginning. " * args.shared_prefix) + words
    body = {"model": args.model, "max_tokens": args.tokens, "temperature": 0, "stream": True}
    if chat:
        body["messages"] = [{"role": "user", "content": prompt}]
    else:
        body["prompt"] = prompt
    if args.ignore_eos:
        body["ignore_eos"] = True
    return json.dumps(body)


def has_text(event):
    for choice in event.get("choices", []):
        if choice.get("text") or (choice.get("delta") or {}).get("content"):
            return True
    return False


def connect(url, timeout):
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    return kind(url.hostname, url.port, timeout=timeout)


def send(args, url, number):
    """The times of the tokens of one request, in seconds from its start."""
    connection = connect(url, args.timeout)
    start = time.perf_counter()
    connection.request("POST", url.path, body_of(args, number, url.path.endswith("chat/completions")),
                       {"Content-Type": "application/json", "Authorization": "Bearer " + args.key})
    response = connection.getresponse()
    if response.status != 200:
        raise RuntimeError(f"status {response.status}: {response.read(300).decode(errors='replace')}")
    times = []
    for line in response:
        if not line.startswith(b"data:"):
            continue
        data = line[5:].strip()
        if data == b"[DONE]":
            break
        if has_text(json.loads(data)):
            times.append(time.perf_counter() - start)
    connection.close()
    return times


def start_server(command):
    # A group of its own: a server has workers, and all of them end with it.
    return subprocess.Popen(command, start_new_session=True) if command else None


def end_server(server):
    """Politely first: a recorder in the server's processes writes its files at their end."""
    if server is None:
        return
    for number, seconds in ((signal.SIGINT, 30), (signal.SIGTERM, 10), (signal.SIGKILL, 5)):
        try:
            os.killpg(server.pid, number)
        except ProcessLookupError:
            return
        try:
            server.wait(seconds)
            return
        except subprocess.TimeoutExpired:
            continue


def wait_for_server(args, url, server):
    end = time.monotonic() + args.wait
    while True:
        if server is not None and server.poll() is not None:
            sys.exit(f"load.py: the server ended with status {server.returncode} before it answered")
        try:
            connection = connect(url, 5)
            connection.request("GET", "/v1/models")
            connection.getresponse().read()
            connection.close()
            return
        except OSError as error:
            if time.monotonic() > end:
                sys.exit(f"load.py: {url.netloc} does not answer: {error}")
            time.sleep(0.5)


def quantile(values, q):
    values = sorted(values)
    place = q * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def print_times(name, seconds):
    if not seconds:
        return
    tail = f", p95: {quantile(seconds, 0.95) * 1e3:.2f} ms" if len(seconds) >= 20 else ""
    print(f"{name} p50: {quantile(seconds, 0.5) * 1e3:.2f} ms{tail}")


def main():
    parser = argparse.ArgumentParser(description="Sends a fixed load to an OpenAI-compatible server")
    parser.add_argument("--url", default="http://127.0.0.1:8000/v1/completions")
    parser.add_argument("--model", default="default")
    parser.add_argument("--key", default="none", help="API key")
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=128, help="tokens to generate per request")
    parser.add_argument("--prompt-words", type=int, default=256)
    parser.add_argument("--shared-prefix", type=int, default=0, help="sentences that all prompts begin with")
    parser.add_argument("--ignore-eos", action="store_true", help="generate all tokens, where the server can")
    parser.add_argument("--wait", type=float, default=300, help="seconds to wait for the server")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for a request")
    own = sys.argv[1:]
    command = own[own.index("--") + 1:] if "--" in own else []
    args = parser.parse_args(own[:own.index("--")] if "--" in own else own)
    # At a time limit this program gets SIGTERM: the server ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    server = start_server(command)
    try:
        return send_load(args, urllib.parse.urlsplit(args.url), server)
    finally:
        end_server(server)


def send_load(args, url, server):
    wait_for_server(args, url, server)
    numbers = queue.SimpleQueue()
    for number in range(args.requests):
        numbers.put(number)
    results, failures, lock = {}, [], threading.Lock()

    def work():
        while True:
            try:
                number = numbers.get_nowait()
            except queue.Empty:
                return
            try:
                times = send(args, url, number)
            except (OSError, RuntimeError, ValueError, http.client.HTTPException) as error:
                with lock:
                    failures.append(f"request {number}: {error}")
                continue
            with lock:
                results[number] = times

    start = time.perf_counter()
    threads = [threading.Thread(target=work) for _ in range(max(1, args.concurrency))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - start
    first, between, tokens = [], [], 0
    for number, times in sorted(results.items()):
        if not times:
            failures.append(f"request {number}: no token came")
            continue
        gaps = [b - a for a, b in zip(times, times[1:])]
        first.append(times[0])
        between.extend(gaps)
        tokens += len(times)
        itl = f", ITL {quantile(gaps, 0.5) * 1e3:.2f} ms" if gaps else ""
        print(f"request {number}: TTFT {times[0] * 1e3:.2f} ms, {len(times)} tokens{itl}")
    print_times("TTFT", first)
    print_times("ITL", between)
    print(f"throughput: {tokens / elapsed:.1f} tokens/s")
    for line in failures:
        print("load.py: " + line, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

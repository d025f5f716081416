"""What others do in the same lab: curl, Go's net/http and aiohttp, each without retries of the caller's. For comparison only."""
import os
import signal
import subprocess
import sys
import threading
import time

from lab import Client
from scenarios import IDLE, THREE, errors, refuse, summary

here = os.path.dirname(os.path.abspath(__file__))

# Of Python's packages, where `pip install --target` may install aiohttp.
PACKAGES = "packages"


def client(lab, **settings):
    """The client that `peers.main` has named by its program; ours with its retries, as it comes."""
    isOurs = lab.command[0].endswith("/field")
    return Client(lab, {**settings, **({"attempts": 3} if isOurs else {})}, env={"PYTHONPATH": os.path.join(lab.tls, PACKAGES)})


def curl(lab, *arguments):
    """Runs curl: the status and the seconds of each transfer."""
    return subprocess.Popen(
        ["curl", "-s", "--cacert", lab.tls + "/ca.pem", "-w", "%{http_code} %{time_total} %{num_connects}\\n", *arguments],
        stdout=subprocess.PIPE, text=True)


def told(process):
    lines = [line.split() for line in process.communicate(timeout=90)[0].splitlines()]
    ends = [{"ms": float(seconds) * 1000, **({"status": 200} if code == "200" else {"error": code})} for code, seconds, _ in lines]
    return summary(ends)


def isCurl(lab):
    return lab.command[0] == "curl"


def dead(lab, port, urls, version):
    if isCurl(lab):
        arguments = [part for url in urls[:1] * 7 for part in ("-o", "/dev/null", url)]
        process = curl(lab, version, "--rate", "30/m", "-m", str(IDLE), *arguments)
        time.sleep(1)
        lab.kill_connections(port)
        lab.tell("of the first and six more " + told(process))
        return
    with client(lab, idle=IDLE, authorities=lab.tls + "/ca.pem") as each:
        each.wait(each.begin(urls[1], count=6 if port == 81 else 1), 3)
        lab.kill_connections(port)
        ends = [end for end in (each.one(urls[0], 10) for _ in range(6)) if end]
        lab.tell(summary(ends))


def dead_http2(lab):
    """a dead HTTP/2 connection, then six requests in turn, 2 s each"""
    lab.http()
    lab.nginx()
    dead(lab, 443, ["https://good.test/1k"] * 2, "--http2")


def dead_http1(lab):
    """six dead connections of HTTP/1.1 (curl: one), then six requests in turn, 2 s each"""
    lab.http()
    lab.http(81)
    dead(lab, 81, ["http://good.test:81/size/10", "http://good.test:81/after/0.5"], "--http1.1")


def first(lab):
    lab.http()
    if isCurl(lab):
        lab.tell(told(curl(lab, "--connect-timeout", "6", "-o", "/dev/null", "http://two.test/size/10")))
        return
    with client(lab, idle=6) as each:
        end = each.one("http://two.test/size/10", 20)
        lab.tell(summary([end] if end else []))


def silent_first(lab):
    """first address of two of IPv4 a black hole, time-out 6 s"""
    lab.hosts(two=["192.0.2.11", "192.0.2.12"])
    lab.swallow("192.0.2.11")
    first(lab)


def refused_three(lab):
    """the first three of four addresses refuse, time-out 6 s"""
    lab.hosts(two=[*THREE, "192.0.2.12"])
    refuse(lab, THREE)
    first(lab)


def silent_family(lab):
    """IPv6 a black hole, IPv4 works, time-out 6 s"""
    lab.sh("ip address add 2001:db8::11/64 dev lo nodad")
    lab.hosts(two=["2001:db8::11", "192.0.2.12"])
    lab.swallow("2001:db8::11")
    first(lab)


def silent_dns(lab):
    """a silent name server, ten rounds of 150 requests of 300 ms, 16 connections"""
    lab.dns("silent")
    lab.http()
    if isCurl(lab):
        lab.tell(told(curl(lab, "-m", "0.3", "http://silent.test/")) + ", a process each")
        return
    with client(lab, idle=0.3, connections=16) as each:
        each.leftovers = 30
        most, ends = 0, []
        for _ in range(10):
            ids = each.begin("http://silent.test/", count=150)
            while not each.wait(ids, 0) or not all(id in each.ends for id in ids):
                pass
            most = max(most, each.threads())
            ends += [each.ends[id][0] for id in ids]
        lab.tell(f"{len(ends)} ended, at most {max(end['ms'] for end in ends)} ms, {most} threads")


def redirect(lab):
    """`Location: /t/a b%20c` is asked for as"""
    lab.http()
    if isCurl(lab):
        curl(lab, "-L", "-o", "/dev/null", "http://good.test/odd").communicate(timeout=20)
    else:
        with client(lab, idle=2) as each:
            each.one("http://good.test/odd", 5)
    lab.tell("`" + next((line.split(" ", 1)[1][:-2] for line in lab.log() if " /t/" in line), "not") + "`")


def goaway(lab):
    """nginx sends GOAWAY after ten requests: 400 POSTs, 8 at a time"""
    lab.http()
    lab.nginx("keepalive_requests 10; location /post { return 200 x; }")
    if isCurl(lab):
        arguments = [part for _ in range(400) for part in ("-o", "/dev/null", "https://good.test/post")]
        lab.tell(told(curl(lab, "--http2", "-X", "POST", "-Z", "--parallel-max", "8", *arguments)))
        return
    with client(lab, idle=5, authorities=lab.tls + "/ca.pem") as each:
        ends = []
        for _ in range(50):
            ends += each.wait(each.begin("https://good.test/post", count=8, method="POST"), 10)
        lab.tell(f"{summary(ends)} {errors(ends)}")


def stopped(lab):
    """stopped for 10 s, the answer waits, ten requests with 2 s"""
    lab.http()
    if isCurl(lab):
        process = curl(lab, "-m", "2", "-o", "/dev/null", "http://good.test/after/0.5")
    else:
        each = client(lab, idle=2)
        each.__enter__()
        process, ids = each.process, each.begin("http://good.test/after/0.5", count=10)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(10)
    os.kill(process.pid, signal.SIGCONT)
    lab.tell(told(process) if isCurl(lab) else summary(each.wait(ids, 5)))


ROWS = [dead_http2, dead_http1, silent_first, refused_three, silent_family, silent_dns, redirect, goaway, stopped]


def main(run, work, ours):
    """Prints the table."""
    program = os.path.join(work, "go-client")
    columns = {"Deferred": [ours], "curl": ["curl"]}
    if subprocess.run(["go", "build", "-o", program, "main.go"], cwd=os.path.join(here, "Peers"),
                      env={**os.environ, "GO111MODULE": "off"}).returncode == 0:
        columns["Go"] = [program]
    if subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", os.path.join(work, PACKAGES), "aiohttp"],
                      stderr=subprocess.DEVNULL).returncode == 0:
        columns["aiohttp"] = [sys.executable, os.path.join(here, "Peers", "aiohttp_client.py")]
    print("| fault | " + " | ".join(columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    for row in ROWS:
        cells = []
        for name, command in columns.items():
            found = run(row.__name__, work, command, "peers", os.path.join(work, name + "-" + row.__name__))
            unexpected = [text for text in found["failures"] if text.startswith("it ") or "Error" in text]
            cells.append("; ".join(found["figures"] + unexpected[:1]))
        print(f"| {row.__doc__} | " + " | ".join(cells) + " |", flush=True)
    return 0

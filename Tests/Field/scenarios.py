"""The scenarios of the lab. The first line of each says what happens; `promised` is what the documentation lets a caller expect.

Times are kept short: an idle deadline of 2 s here stands for the 60 s of the default.
"""
import glob
import os
import re
import signal
import socket
import subprocess
import time

from lab import Client, Skipped, milliseconds

IDLE = 2

# The pauses before the second and the third attempt, at most: 200 ms and 400 ms.
PAUSES = 0.6

# An attempt that meets what is dead, the pause, and one that doesn't.
RECOVERY = IDLE + PAUSES

# An attempt of a request to a host that works, with a new connection, also where packets are lost by the machine.
QUICK = 1

# As near to the client's own address as the one that works, so that the order is that of the file.
THREE = ["192.0.2.13", "192.0.2.14", "192.0.2.15"]

# Look-ups at once in a process, and beside them the threads of the client (4), of the main program, of Dispatch and of Swift.
LOOKUPS = 64
OTHER_THREADS = 24


def summary(ends):
    """As in "3 of 4 succeeded, 0.1 to 2.3 s"."""
    if not ends:
        return "none ended"
    times = [end["ms"] / 1000 for end in ends]
    count = sum("status" in end for end in ends)
    spread = f"{milliseconds(min(times))} to {milliseconds(max(times))}" if len(times) > 1 else milliseconds(times[0])
    return f"{count} of {len(ends)} succeeded, {spread}"


def errors(ends):
    """The errors, each once, with how often it was."""
    texts = [re.sub(r"https?://\S+ ?|UserInfo=.*", "", end["error"])[:80] for end in ends if "error" in end]
    return ", ".join(f"{texts.count(text)} × {text}" for text in dict.fromkeys(texts))


def all_succeed(lab, ends, what="requests"):
    lab.check(all("status" in end for end in ends), f"{what}: {summary(ends)}: {errors(ends)}")


def second_is_new(lab, ends):
    """A further attempt has a connection that was made after the failure, so that there is never a third."""
    lab.check(all(end["attempts"] <= 2 for end in ends), f"{max(end['attempts'] for end in ends)} attempts")


def in_turn(client, url, count, promised=RECOVERY, **details):
    return [end for end in (client.one(url, promised, **details) for _ in range(count)) if end]


# MARK: Connections that die in silence

def dead_http2(lab):
    """an HTTP/2 connection dies in silence; requests with retries follow, one after the other"""
    lab.http()
    lab.nginx()
    with lab.client(idle=IDLE, attempts=3, authorities=lab.tls + "/ca.pem") as client, client.neighbour():
        url = "https://good.test/1k"
        all_succeed(lab, in_turn(client, url, 2), "before")
        lab.kill_connections(443)
        ends = in_turn(client, url, 6)
        all_succeed(lab, ends)
        second_is_new(lab, ends)
        lab.check(sum(end["ms"] > IDLE * 900 for end in ends) <= 1, "more than one request waited for the dead connection")
        lab.tell(summary(ends))


def dead_http2_once(lab):
    """an HTTP/2 connection dies in silence; requests without retries follow: one of them fails"""
    lab.http()
    lab.nginx()
    with lab.client(idle=IDLE, authorities=lab.tls + "/ca.pem") as client:
        url = "https://good.test/1k"
        all_succeed(lab, in_turn(client, url, 2), "before")
        lab.kill_connections(443)
        ends = in_turn(client, url, 6, IDLE)
        lab.check(sum("error" in end for end in ends) <= 1, f"more than one failed: {errors(ends)}")
        lab.tell(summary(ends))


def dead_http2_crowd(lab):
    """the connections of HTTP/2 die in silence; 20 requests at once follow, three times"""
    lab.http()
    lab.nginx()
    with lab.client(idle=IDLE, attempts=3, authorities=lab.tls + "/ca.pem") as client:
        url = "https://good.test/1k"
        all_succeed(lab, client.wait(client.begin(url, count=20), QUICK), "before")
        lab.tell(f"{lab.kill_connections(443)} connections dead")
        crowds = [client.wait(client.begin(url, count=20), RECOVERY) for _ in range(3)]
        for ends in crowds:
            all_succeed(lab, ends, "at once")
            second_is_new(lab, ends)
        lab.check(all(end["ms"] < IDLE * 900 for end in crowds[2]), "the third crowd waited for a dead connection")
        lab.tell(", then ".join(map(summary, crowds)))


def dead_http1(lab):
    """six idle connections of HTTP/1.1 die in silence; requests follow, one after the other, then six at once"""
    lab.http()
    lab.http(81)
    with lab.client(idle=IDLE, attempts=3, version=1) as client, client.neighbour():
        all_succeed(lab, client.wait(client.begin("http://good.test:81/after/0.5", count=6), QUICK), "before")
        dead = lab.kill_connections(81)
        url = "http://good.test:81/size/1000"
        ends = in_turn(client, url, 6)
        all_succeed(lab, ends)
        crowd = client.wait(client.begin("http://good.test:81/after/0.5", count=6), RECOVERY + 0.5)
        all_succeed(lab, crowd, "at once")
        second_is_new(lab, ends + crowd)
        lab.tell(f"{dead} connections dead, {summary(ends)}, at once {summary(crowd)}")


# MARK: Names with several addresses

def addresses(lab, works, *first):
    """The first request to a name with these addresses has the time of its connect deadline, but no second attempt."""
    lab.http()
    lab.hosts(two=[*first, works])
    lab.tell("order " + " ".join(dict.fromkeys(line.split()[0] for line in lab.sh("getent ahosts two.test").splitlines())))
    url = "http://two.test/size/1000"
    with lab.client(idle=3 * IDLE, head=3 * IDLE, attempts=2) as client, client.neighbour():
        ends = in_turn(client, url, 1, 3 * IDLE) + in_turn(client, url, 2, QUICK)
        all_succeed(lab, ends)
        lab.check(all(end["attempts"] == 1 for end in ends), "more than one attempt")
        lab.tell(summary(ends))


def need_IPv6(lab):
    if not lab.hasIPv6:
        raise Skipped("there is no IPv6")


def silent_first(lab):
    """the first of two addresses of a name is a black hole, the second works"""
    lab.swallow("192.0.2.11")
    addresses(lab, "192.0.2.12", "192.0.2.11")


def silent_first_of_families(lab):
    """the address of IPv6 is a black hole, that of IPv4 works"""
    need_IPv6(lab)
    lab.sh("ip address add 2001:db8::11/64 dev lo nodad")
    lab.swallow("2001:db8::11")
    addresses(lab, "192.0.2.12", "2001:db8::11")


def refuse(lab, addresses):
    for address in addresses:
        lab.sh(f"iptables -w -A INPUT -d {address} -p tcp -j REJECT --reject-with tcp-reset")


def refused_first(lab):
    """the first of two addresses of a name refuses, the second works"""
    refuse(lab, ["192.0.2.11"])
    addresses(lab, "192.0.2.12", "192.0.2.11")


def refused_three(lab):
    """the first three of four addresses of a name refuse, the fourth works"""
    refuse(lab, THREE)
    addresses(lab, "192.0.2.12", *THREE)


def all_refused(lab):
    """three addresses of a name refuse, and there are no others"""
    lab.http()
    lab.hosts(two=THREE)
    refuse(lab, THREE)
    with lab.client(idle=3 * IDLE) as client, client.neighbour():
        # libcurl takes 200 ms for each, where it doesn't see the refusal at once.
        ends = client.wait(client.begin("http://two.test/", count=5), QUICK)
        lab.check(errors(ends) == f"{len(ends)} × URLError -1004", f"not told as refused: {errors(ends)}")
        lab.tell(f"{summary(ends)}, {errors(ends)}")


def unreachable_family(lab):
    """there is no route to the address of IPv6, that of IPv4 works"""
    need_IPv6(lab)
    lab.sh("ip route add unreachable 2001:db8:1::/48")
    addresses(lab, "192.0.2.12", "2001:db8:1::1")


def no_family(lab):
    """IPv6 is turned off, and the name has an address of it"""
    need_IPv6(lab)
    lab.sh("echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6")
    addresses(lab, "192.0.2.12", "2001:db8:1::1")


def all_silent(lab):
    """all addresses of a name are black holes, with and without deadlines"""
    lab.http()
    lab.hosts(two=["192.0.2.11", "192.0.2.12"])
    lab.swallow("192.0.2.11", "192.0.2.12")
    with lab.client(head=IDLE, attempts=2) as client, client.neighbour():
        ends = client.wait(client.begin("http://two.test/", count=40), 2 * IDLE + PAUSES)
        lab.check(all("error" in end for end in ends), "a request to nobody succeeded")
        lab.tell(f"with: {summary(ends)}, {errors(ends)}")
        client.order("open", settings={})
        ids = client.begin("http://two.test/", count=40)
        time.sleep(IDLE)
        lab.check(not any(id in client.ends for id in ids), "a request without deadlines gave up")
        began = time.monotonic()
        client.order("cancel")
        client.wait(ids, QUICK, "cancelled request")
        lab.tell(f"without: all cancelled in {milliseconds(time.monotonic() - began)}")


# MARK: Name servers

def dns_silent(lab):
    """the name server never answers: 1,500 requests of 300 ms to one host, in ten rounds"""
    lab.dns("silent")
    lab.http()
    with lab.client(idle=0.3, connections=16) as client:
        # A look-up that nobody waits for any more still takes glibc twice 5 s.
        client.leftovers = 12
        most, ends = 0, []
        with client.neighbour():
            for _ in range(10):
                # Sixteen at a time, if none learns from the others.
                ends += client.wait(client.begin("http://silent.test/", count=150), 150 / 16 * 0.3)
                most = max(most, client.threads())
        lab.check(all("error" in end for end in ends), "a request to nobody succeeded")
        lab.check(most <= LOOKUPS + OTHER_THREADS, f"{most} threads")
        lab.tell(f"{summary(ends)}, {most} threads, {len(lab.log('dns'))} questions")


def dns_slow(lab):
    """the name server takes a second for each answer"""
    lab.dns("slow")
    lab.http()
    with lab.client(idle=5) as client, client.neighbour():
        ends = client.wait(client.begin("http://slow.test/size/10", count=100), 1 + QUICK)
        all_succeed(lab, ends)
        lab.tell(summary(ends))


def dns_fails(lab):
    """the name server answers that it failed"""
    lab.dns("fails")
    lab.http()
    with lab.client(idle=5, attempts=2) as client, client.neighbour():
        ends = client.wait(client.begin("http://fails.test/size/10", count=20), QUICK + PAUSES)
        lab.check(all("error" in end for end in ends), "a request to nobody succeeded")
        lab.check(all("-1003" in end["error"] or "-1006" in end["error"] for end in ends if "error" in end),
                  f"not told as a failed look-up: {errors(ends)}")
        lab.tell(f"{summary(ends)}, {errors(ends)}")


def dns_truncates(lab):
    """the name server's answers are cut short, so that it is asked again over TCP"""
    lab.dns("truncates")
    lab.http()
    with lab.client(idle=5) as client, client.neighbour():
        ends = client.wait(client.begin("http://long.test/size/10", count=20), QUICK)
        all_succeed(lab, ends)
        lab.tell(summary(ends))


# MARK: Links

def link_down(lab, client, seconds=5):
    lab.sh("ip link set lo down")
    time.sleep(seconds)
    lab.sh("ip link set lo up")
    # The addresses of IPv4 stay; the kernel removes those of IPv6.


def same(lab, one, other):
    with open(one, "rb") as first, open(other, "rb") as second:
        lab.check(first.read() == second.read(), f"{os.path.basename(other)} differs from the original")


def download_over_outage(lab):
    """the link is down for 5 s in the middle of two downloads: one waits, one resumes"""
    lab.http()
    original = lab.make_file("original", 4 << 20)
    copies = [lab.path("waits"), lab.path("resumes")]
    url = f"http://good.test/files/original?rate={1 << 20}"
    with lab.client(idle=20) as client, lab.client(idle=1, attempts=6) as impatient:
        waits = client.begin(url, "download", file=copies[0])
        resumes = impatient.begin(url, "download", file=copies[1])
        time.sleep(1.5)
        link_down(lab, client)
        # The rest of the file; the wait doubles between what TCP sends again, and between attempts.
        for each, ids in ((client, waits), (impatient, resumes)):
            ends = each.wait(ids, 12, "download")
            all_succeed(lab, ends, "download")
            lab.tell(f"{summary(ends)} in {ends[0]['attempts'] if ends else 0} attempts")
        for copy in copies:
            if lab.check(os.path.exists(copy), f"no {os.path.basename(copy)}"):
                same(lab, original, copy)
        lab.check(any("bytes=" in line for line in lab.log()), "nothing was resumed")
        lab.check(not glob.glob(lab.path("*.partial")), "a part was left")


def upload_over_outage(lab):
    """the link is down for 5 s in the middle of two uploads: one waits, one is sent again"""
    lab.http()
    original = lab.make_file("original", 8 << 20)
    digest = lab.sh(f"sha256sum {original}").split()[0]
    url = f"http://good.test/sum?rate={2 << 20}"
    with lab.client(idle=20) as client, lab.client(idle=2, attempts=6) as impatient:
        waits = client.begin(url, "upload", file=original, method="PUT")
        again = impatient.begin(url, "upload", file=original, method="PUT")
        time.sleep(1.5)
        link_down(lab, client)
        for each, ids in ((client, waits), (impatient, again)):
            ends = each.wait(ids, 16, "upload")
            all_succeed(lab, ends, "upload")
            lab.tell(f"{summary(ends)} in {ends[0]['attempts'] if ends else 0} attempts")
        sums = [line.split()[1] for line in lab.log() if line.startswith("sum ")]
        lab.check(sums.count(digest) >= 2 and set(sums) == {digest}, f"the server received {sums}")


def resets(lab):
    """one packet in fifty resets its connection"""
    lab.http()
    lab.http(81)
    original = lab.make_file("original", 1 << 20)
    lab.sh("iptables -w -A INPUT -p tcp --dport 81 -m statistic --mode random --probability 0.02 "
           "-j REJECT --reject-with tcp-reset")
    with lab.client(idle=5, attempts=10) as client, client.neighbour():
        ids = client.begin("http://good.test:81/files/original", count=100, file=original)
        files = [lab.path(f"copy{index}") for index in range(4)]
        for file in files:
            ids += client.begin("http://good.test:81/files/original", "download", file=file)
        # Ten attempts with pauses of up to 51 s in all, most of them shorter.
        ends = client.wait(ids, 40)
        good = [end for end in ends if "status" in end]
        lab.check(len(good) >= 0.9 * len(ids), f"too few: {summary(ends)}: {errors(ends)}")
        lab.check(not any("WrongBody" in end.get("error", "") for end in ends), "a body differs from the original")
        for file in files:
            if os.path.exists(file):
                same(lab, original, file)
        lab.tell(f"{summary(ends)}, {sum(end['attempts'] for end in ends)} attempts")


def loss(lab):
    """a packet in ten is lost"""
    lab.http()
    lab.http(81)
    lab.nginx()
    original = lab.make_file("original", 1 << 20)
    for port in 81, 443:
        for end in "sport", "dport":
            lab.sh(f"iptables -w -A INPUT -p tcp --{end} {port} -m statistic --mode random --probability 0.1 -j DROP")
    with lab.client(idle=20, authorities=lab.tls + "/ca.pem") as client, client.neighbour():
        ids = client.begin("http://good.test:81/size/10000", count=60) + client.begin("https://good.test/1k", count=60)
        ids += client.begin("http://good.test:81/files/original", "download", file=lab.path("copy"))
        # What is lost twice is sent for the third time after 0.6 s, and so on.
        ends = client.wait(ids, 30)
        all_succeed(lab, ends)
        if lab.check(os.path.exists(lab.path("copy")), "no file"):
            same(lab, original, lab.path("copy"))
        lab.tell(summary(ends))


def mute_server(lab):
    """a server accepts and never answers, with and without TLS"""
    lab.http()
    lab.http(81)
    # It accepts and never begins its handshake.
    mute = socket.create_server(("", 82), backlog=64)
    with lab.client(idle=IDLE, attempts=2, authorities=lab.tls + "/ca.pem") as client, client.neighbour():
        ids = client.begin("http://good.test:81/silent", count=8) + client.begin("https://good.test:82/", count=8)
        ends = client.wait(ids, 2 * IDLE + PAUSES)
        lab.check(all("error" in end for end in ends), "a request without an answer succeeded")
        lab.tell(f"{summary(ends)}, {errors(ends)}")
    mute.close()


# MARK: Beside the network

def descriptors(lab):
    """64 descriptors, and 400 requests on up to 200 connections to two hosts; then others to them and to a third"""
    lab.http()
    lab.hosts(two=["192.0.2.202"])
    with Client(lab, dict(idle=10, attempts=5, connections=100), prefix=["prlimit", "--nofile=64"]) as client:
        ids = [id for host in ("good", "two") for id in client.begin(f"http://{host}.test/after/0.2", count=200)]
        # Those that get no connection fail at once, five times with four pauses of up to 3 s in all.
        ends = client.wait(ids, 10)
        lab.check(sum("status" in end for end in ends) >= 100, f"too few: {summary(ends)}: {errors(ends)}")
        lab.check("-1003" not in errors(ends), f"not told as a lack of descriptors: {errors(ends)}")
        all_succeed(lab, in_turn(client, "http://good.test/size/10", 3, QUICK), "then to the same host")
        later = in_turn(client, "http://other.test/size/10", 3, QUICK)
        all_succeed(lab, later, "then to another host")
        lab.tell(f"{summary(ends)} {errors(ends)}; then to another host {summary(later)}")


def disk_full(lab):
    """the disk of 2 MiB is full under a download, a spooled upload and a cache"""
    lab.http()
    original = lab.make_file("original", 4 << 20)
    disk = lab.path("disk")
    os.mkdir(disk)
    lab.sh(f"mount -t tmpfs -o size=2m tmpfs {disk}")
    settings = dict(idle=5, cache=disk + "/cache")
    with Client(lab, settings, env={"TMPDIR": disk}) as client, client.neighbour():
        download, = client.wait(client.begin("http://good.test/files/original", "download", file=disk + "/copy"), 5) or [{}]
        lab.check("error" in download, "a download of 4 MiB fitted")
        lab.check(not os.path.exists(disk + "/copy"), "half a file has the name of a whole one")
        for left in glob.glob(disk + "/*.partial"):
            os.remove(left)
        spool, = client.wait(client.begin("http://good.test/sum", "spool", file=original), 5) or [{}]
        if "error" in spool:
            lab.check(not glob.glob(disk + "/deferred-body*"), "what was spooled is left")
        ends = client.wait(client.begin("http://good.test/cached/400000", count=20), 5)
        ends += [end for index in range(20) for end in in_turn(client, f"http://good.test/cached/{300000 + index}", 1, QUICK)]
        all_succeed(lab, ends, "requests with a cache")
        lab.tell(f"download: {errors([download])}; spool: {errors([spool]) or summary([spool])}; cache: {summary(ends)}")


def stopped(lab):
    """the process is stopped for 10 s, and the answer waits in the socket longer than the idle deadline"""
    lab.http()
    with lab.client(idle=IDLE, connections=40) as client:
        all_succeed(lab, in_turn(client, "http://good.test/size/10", 1, QUICK), "before")
        ids = client.begin("http://good.test/after/0.5", count=40)
        time.sleep(0.3)
        os.kill(client.pid, signal.SIGSTOP)
        time.sleep(10)
        os.kill(client.pid, signal.SIGCONT)
        ends = client.wait(ids, QUICK)
        all_succeed(lab, ends)
        lab.tell(f"{summary(ends)} {errors(ends)}")


def stopped_while_waiting(lab):
    """the process is stopped for 10 s, while 16 requests run and 24 wait for a connection"""
    lab.http()
    with lab.client(idle=IDLE, connections=16, version=1) as client:
        ids = client.begin("http://good.test/after/0.5", count=40)
        time.sleep(0.3)
        os.kill(client.pid, signal.SIGSTOP)
        time.sleep(10)
        os.kill(client.pid, signal.SIGCONT)
        ends = client.wait(ids, QUICK + 1)
        all_succeed(lab, ends)
        lab.tell(f"{summary(ends)} {errors(ends)}")


def waiting(lab):
    """requests wait longer than the idle deadline: for one connection, for 4 streams, and for those of a dead connection"""
    lab.http()
    lab.nginx("http2_max_concurrent_streams 4; location /after { proxy_pass http://127.0.0.1:80; }")
    with lab.client(idle=IDLE, connections=1, attempts=2, authorities=lab.tls + "/ca.pem") as client, client.neighbour():
        line = client.wait(client.begin("http://good.test/after/0.5", count=8), 8 * 0.5 + QUICK)
        all_succeed(lab, line, "one connection")
        url = "https://good.test/after/1"
        streams = client.wait(client.begin(url, count=16), 4 + QUICK)
        all_succeed(lab, streams, "four streams")
        lab.check(all(end["attempts"] == 1 for end in line + streams), "some were sent again")
        lab.kill_connections(443)
        dead = client.wait(client.begin(url, count=16), RECOVERY + 4 + QUICK)
        all_succeed(lab, dead, "a dead connection")
        second_is_new(lab, dead)
        lab.tell(f"one connection {summary(line)}, four streams {summary(streams)}, dead {summary(dead)}")


def clock_jumps(lab):
    """the wall clock jumps by a day, forwards and back, under requests with deadlines"""
    library = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)
    if not library:
        raise Skipped("libfaketime can't be installed")
    now = lab.path("now")

    def jump(text):
        with open(now + ".new", "w") as file:
            file.write(text + "\n")
        os.rename(now + ".new", now)

    jump("+0d")
    lab.http()
    env = {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": now, "FAKETIME_NO_CACHE": "1",
           "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    with Client(lab, dict(idle=3, total=10), env=env) as client:
        for offset in "+1d", "-1d":
            answered = client.begin("http://good.test/after/2", count=10)
            silent = client.begin("http://good.test/silent", count=10)
            time.sleep(0.5)
            jump(offset)
            ends = client.wait(answered, 2)
            all_succeed(lab, ends, f"answered, clock {offset}")
            late = client.wait(silent, 2)
            lab.check(all(2500 < end["ms"] for end in late), f"a deadline passed early, clock {offset}: {summary(late)}")
            lab.tell(f"{offset}: answered {summary(ends)}, silent {summary(late)}")


def many_clients(lab):
    """200 clients are made and dropped, each with a request"""
    lab.http()
    with lab.client(idle=5) as client:
        for _ in range(2):
            ends = client.wait(client.crowd("http://good.test/after/0.1", 100, idle=10), 10)
            all_succeed(lab, ends)
            lab.tell(f"{summary(ends)}, {client.threads()} threads")
        ends = client.wait(client.crowd("http://good.test/silent", 20, idle=1), 1)
        lab.check(all("error" in end for end in ends), "a request without an answer succeeded")


def both_ways(lab):
    """a gibibyte goes up and comes down at once, with and without TLS, in 8 MiB each"""
    lab.http()
    lab.http(443, tls=True)
    size, limit = 1 << 30, 8 << 10
    with lab.client(idle=IDLE, authorities=lab.tls + "/ca.pem") as client:
        for url in "http://good.test/echo", "https://good.test/echo":
            all_succeed(lab, client.wait(client.begin(url, verb="echo", size=1 << 10), QUICK), "before")
            before = client.memory()
            client.forget_peak()
            # On a machine that is busy with other scenarios.
            ends = client.wait(client.begin(url, verb="echo", size=size), 60)
            growth = client.memory("VmHWM") - before
            all_succeed(lab, ends)
            lab.check(all(end.get("bytes") == size for end in ends), "another number of bytes came back")
            lab.check(growth <= limit, f"{url}: memory grew by {growth / 1024:.1f} MiB from {before >> 10} MiB")
            lab.tell(f"{url}: {summary(ends)}, {growth / 1024:.1f} MiB above {before >> 10} MiB")


def no_proc(lab):
    """fetch, where /proc isn't mounted"""
    fetch = os.path.join(os.path.dirname(lab.command[0]), "fetch")
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", 'while umount -l /proc 2>/dev/null; do :; done; exec "$0" --version', fetch],
        text=True, capture_output=True, timeout=20)
    lab.check(done.returncode >= 0 and done.returncode < 128, f"it died by signal {-done.returncode}")
    lines = (done.stdout + done.stderr).splitlines()
    lab.check(len(lines) == 1, f"not one line: {lines[:3]}")
    lab.tell(f"exit {done.returncode}, {lines[:1]}")


SCENARIOS = [
    # Those that take longest first, as they run side by side.
    dns_silent, resets, loss, dead_http2, dead_http2_once, dead_http2_crowd, dead_http1, download_over_outage,
    upload_over_outage, both_ways, stopped_while_waiting, waiting, silent_first, silent_first_of_families, refused_first, refused_three, all_refused, unreachable_family, no_family, all_silent,
    dns_slow, dns_fails, dns_truncates, mute_server, descriptors, disk_full, stopped, clock_jumps, many_clients, no_proc,
]

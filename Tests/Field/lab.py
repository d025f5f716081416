"""The surroundings of one scenario, in namespaces that end with it; and the client that is driven in them.

`run` starts this file for each scenario as the first process of namespaces of its own, of processes, mounts and the network.
When it ends, however it ends, the kernel ends the processes in them and takes back mounts, addresses and rules.
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

# Above each promised time, for a machine that is busy with other scenarios.
SLACK = float(os.environ.get("FIELD_SLACK", 3))

# What one request to a host that works may take while another host doesn't: it takes milliseconds on an idle machine.
UNHARMED = 2

# How much longer than that the lab waits, to tell how late it was.
GRACE = 15

# Workers of Dispatch and of Swift that rest come and go.
SPARE_THREADS = 6

# Malloc gives back what is free, as far as fragments let it.
MALLOC = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
SPARE_MEMORY = 24 << 10


def milliseconds(seconds):
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


class Skipped(Exception):
    """The reason why a scenario can't be tried here."""


class Lab:
    def __init__(self, work, tls, command):
        self.work = work
        self.tls = tls
        self.command = command
        self.failures = []
        self.figures = []
        self.processes = []
        self.sh("ip link set lo mtu 1500 up")
        self.sh("ip address add 192.0.2.1/24 dev lo")
        self.hasIPv6 = "2001:db8::1" in self.sh("ip address add 2001:db8::1/64 dev lo nodad; ip address", mayFail=True)
        self.put("/etc/nsswitch.conf", "hosts: files dns\n")
        self.put("/etc/resolv.conf", "nameserver 127.0.0.53\n")
        self.hosts()

    # What the machine is.

    def sh(self, command, mayFail=False):
        done = subprocess.run(command, shell=True, text=True, capture_output=True)
        if done.returncode and not mayFail:
            raise RuntimeError(f"{command}: {done.stderr or done.stdout}")
        return done.stdout

    def path(self, name):
        return os.path.join(self.work, name)

    def put(self, path, text):
        """Makes a file of the system's say this, in this namespace alone."""
        own = self.path(os.path.basename(path))
        with open(own, "w") as file:
            file.write(text)
        if not os.path.ismount(path):
            self.sh(f"mount --bind {own} {path}")

    def hosts(self, **names):
        """Gives names addresses, beside those that are always there."""
        lines = ["127.0.0.1 localhost", "192.0.2.200 good.test", "192.0.2.201 other.test"]
        for name, addresses in names.items():
            lines += [f"{address} {name}.test" for address in addresses]
        self.put("/etc/hosts", "\n".join(lines) + "\n")

    def table(self, address):
        return "ip6tables" if ":" in address else "iptables"

    def swallow(self, *addresses):
        """Drops what is sent to addresses: black holes."""
        for address in addresses:
            self.sh(f"{self.table(address)} -w -A INPUT -d {address} -j DROP")

    def kill_connections(self, port):
        """Drops the packets of the connections to a port that are open now, both ways, and counts them. New ones work."""
        lines = self.sh(f"ss -Htn state established '( dport = :{port} )'").splitlines()
        own = [line.split()[2].rsplit(":", 1)[1] for line in lines]
        for each in own:
            self.sh(f"iptables -w -A INPUT -p tcp --sport {each} -j DROP")
            self.sh(f"iptables -w -A INPUT -p tcp --dport {each} -j DROP")
        return len(own)

    def make_file(self, name, size):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(os.urandom(size))
        return path

    # Servers.

    def start(self, *command, **options):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
        self.processes.append(process)
        return process

    def serve(self, kind, *arguments):
        program = os.path.join(os.path.dirname(__file__), "servers.py")
        process = self.start(sys.executable, program, kind, *map(str, arguments))
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"no server {kind} {arguments}")
        return process

    def http(self, port=80, tls=False):
        """Serves HTTP at all addresses of the namespace, and the files in the folder of the scenario."""
        options = ["--tls", self.tls + "/cert.pem", self.tls + "/key.pem"] if tls else []
        self.serve("http", port, "--files", self.work, "--log", self.path(f"log-{port}"), *options)

    def dns(self, mode):
        """Serves names: each has the address 192.0.2.12, where the server isn't at fault."""
        self.serve("dns", mode, "192.0.2.12", self.path("log-dns"))

    def log(self, server=80):
        with open(self.path(f"log-{server}")) as file:
            return file.read().splitlines()

    def nginx(self, more=""):
        """Serves HTTP/2 at port 443."""
        os.makedirs(self.path("nginx"), exist_ok=True)
        with open(self.path("nginx/1k"), "w") as file:
            file.write("x" * 1024)
        os.chmod(self.work, 0o755)
        with open(self.path("nginx.conf"), "w") as file:
            file.write(f"""
            daemon off; master_process off; pid {self.work}/nginx.pid; error_log {self.work}/nginx.log;
            events {{ worker_connections 1024; }}
            http {{
                access_log {self.work}/access.log;
                client_body_temp_path {self.work}/nginx/body; proxy_temp_path {self.work}/nginx/proxy;
                fastcgi_temp_path {self.work}/nginx/f; uwsgi_temp_path {self.work}/nginx/u; scgi_temp_path {self.work}/nginx/s;
                server {{
                    listen 443 ssl http2; listen [::]:443 ssl http2;
                    ssl_certificate {self.tls}/cert.pem; ssl_certificate_key {self.tls}/key.pem;
                    root {self.work}/nginx;
                    {more}
                }}
            }}""")
        self.start("nginx", "-c", self.path("nginx.conf"), "-e", self.path("nginx.log"))
        self.until(lambda: "443" in self.sh("ss -Hltn"), 10)

    def until(self, isTrue, within):
        deadline = time.monotonic() + within
        while not isTrue():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    # What is found.

    def check(self, truth, text):
        if not truth:
            self.failures.append(text)
        return truth

    def tell(self, text):
        self.figures.append(text)

    def client(self, **settings):
        return Client(self, settings)


class Client:
    """A process that has a client of the library, and does what it is told. Used as a context, it checks at the end that
    each request ended once, and that the process is then as it was before."""

    def __init__(self, lab, settings, prefix=(), env=None, command=None):
        self.lab = lab
        self.settings = settings
        self.ends = {}
        self.finished = {}
        self.begun = []
        self.unmonitored = set()
        self.closed = set()
        self.changed = threading.Condition()
        self.numbers = iter(range(1 << 30))
        command = [*prefix, *(command or lab.command)]
        self.process = lab.start(*command, stdin=subprocess.PIPE, env={**os.environ, **MALLOC, **(env or {})})
        self.pid = self.process.pid
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            line = json.loads(line)
            with self.changed:
                if "ended" in line:
                    self.ends.setdefault(line["ended"], []).append(line)
                elif "finished" in line:
                    self.finished[line["finished"]] = self.finished.get(line["finished"], 0) + 1
                else:
                    self.closed.add(line["closed"])
                self.changed.notify_all()
        with self.changed:
            self.closed.add("process")
            self.changed.notify_all()

    def order(self, verb, **details):
        with self.changed:
            try:
                self.process.stdin.write(json.dumps({"verb": verb, **details}) + "\n")
                self.process.stdin.flush()
            except OSError:
                pass

    def begin(self, url, verb="get", count=1, **details):
        """Begins requests, and returns their names."""
        id = f"{verb}{next(self.numbers)}"
        ids = [id] if count == 1 else [f"{id}.{index}" for index in range(count)]
        self.begun += ids
        if verb in ("spool", "echo"):
            self.unmonitored.update(ids)
        self.order(verb, id=id, url=url, count=count, **details)
        return ids

    def crowd(self, url, count, **settings):
        """Begins requests by a client each, which is dropped at once."""
        id = f"crowd{next(self.numbers)}"
        ids = [f"{id}.{index}" for index in range(count)]
        self.begun += ids
        self.order("crowd", id=id, url=url, count=count, settings=settings)
        return ids

    def wait(self, ids, promised, what="request"):
        """Waits until the requests have ended, and returns their ends; those that don't in time are failures."""
        limit = promised + SLACK
        began = time.monotonic()

        def areOver():
            return "process" in self.closed or all(id in self.ends for id in ids)

        with self.changed:
            self.changed.wait_for(areOver, limit)
            missing = [id for id in ids if id not in self.ends]
            # To tell how long they take.
            self.changed.wait_for(areOver, GRACE)
        if missing:
            reason = "the process ended" if "process" in self.closed else f"after {limit:.1f} s"
            self.lab.failures.append(f"{len(missing)} of {len(ids)} {what}s had not ended: {reason}")
        self.waited = time.monotonic() - began
        return [self.ends[id][0] for id in ids if id in self.ends]

    def one(self, url, promised, what="request", **details):
        """A request from beginning to end: its end, or None if that didn't come in time."""
        ends = self.wait(self.begin(url, **details), promised, what)
        return ends[0] if ends else None

    def neighbour(self, url="http://other.test/size/10"):
        return Neighbour(self, url)

    # What the process holds.

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def memory(self, kind="VmRSS"):
        """Resident now, in KiB, or at most since `forget_peak`, for VmHWM."""
        with open(f"/proc/{self.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(kind))

    def forget_peak(self):
        with open(f"/proc/{self.pid}/clear_refs", "w") as file:
            file.write("5")

    def __enter__(self):
        # Once through everything, so that what is made once for a process is there: engine, look-ups, a deadline that passes.
        self.order("open", settings={"idle": 0.5})
        warm = self.begin("http://good.test/size/10", count=4) + self.begin("http://good.test/silent")
        self.wait(warm, 30, "first request")
        self.close()
        time.sleep(0.3)
        self.before = (self.threads(), self.descriptors(), self.memory())
        self.order("open", settings=self.settings)
        return self

    def close(self, promised=2):
        """Shuts the client down, and waits until it is."""
        id = f"close{next(self.numbers)}"
        self.order("shutdown", id=id)
        with self.changed:
            isClosed = self.changed.wait_for(lambda: id in self.closed, promised + SLACK)
        self.lab.check(isClosed, f"shutdown() had not ended after {promised + SLACK:.0f} s")

    # How long after the shutdown what is left may still be there.
    leftovers = 8

    def __exit__(self, kind, *_):
        if kind is not None:
            return
        lab = self.lab
        if "process" in self.closed:
            lab.failures.append(f"the process ended by itself: {self.process.wait()}")
            return
        if not all(id in self.ends for id in self.begun):
            self.order("cancel")
        self.close()
        threads, descriptors, memory = self.before
        isTidy = lab.until(
            lambda: self.threads() <= threads + SPARE_THREADS and self.descriptors() <= descriptors, self.leftovers + SLACK)
        now = (self.threads(), self.descriptors(), self.memory())
        lab.check(isTidy, f"threads {threads} before and {now[0]} after, descriptors {descriptors} and {now[1]}")
        lab.check(now[2] <= memory + SPARE_MEMORY, f"memory {memory >> 10} MiB before and {now[2] >> 10} MiB after")
        for id in self.begun:
            ends, lasts = len(self.ends.get(id, [])), self.finished.get(id, 0)
            if ends != 1 or (lasts != 1 and id not in self.unmonitored):
                lab.failures.append(f"{id} ended {ends} times, with {lasts} last events")
        self.stop()

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Neighbour:
    """Requests to another host, one after the other, as long as the context lasts: it must not notice anything."""

    def __init__(self, client, url):
        self.client = client
        self.url = url
        self.times = []
        self.errors = []
        self.isOver = threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()
        return self

    def ask(self):
        while not self.isOver.is_set():
            end = self.client.one(self.url, UNHARMED, "request to another host")
            if end is None:
                return
            self.times.append(end["ms"] / 1000)
            if "error" in end:
                self.errors.append(end["error"])
            self.isOver.wait(0.1)

    def __exit__(self, *_):
        self.isOver.set()
        self.thread.join()
        lab = self.client.lab
        lab.check(self.times, "no request to another host had ended")
        lab.check(not self.errors, f"{len(self.errors)} of {len(self.times)} requests to another host: {self.errors[:1]}")
        worst = max(self.times, default=0)
        lab.check(worst <= UNHARMED + SLACK, f"a request to another host took {milliseconds(worst)}")
        lab.tell(f"{len(self.times)} to another host, at most {milliseconds(worst)}")


def main(module, name, *rest):
    scenarios = __import__(module)
    lab = Lab(*rest[:2], rest[2:])
    skipped = None
    try:
        getattr(scenarios, name)(lab)
    except Skipped as reason:
        skipped = str(reason)
    except Exception as error:
        traceback.print_exc()
        lab.failures.append(f"{type(error).__name__}: {error}")
    print(json.dumps({"failures": lab.failures, "figures": lab.figures, "skipped": skipped}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])

import Deferred
import DeferredTesting
import Foundation

// `caching` prints how fast a cache answers, in memory, on disk and after a validation, beside the same without a cache, and
// how long the first request to a large folder takes. `caching --once NAME COUNT` does one of the operations so many times
// and nothing else, to be counted by callgrind: the difference of two counts is free of start-up costs.

/// Answers at once, with a response that may be stored.
struct Terminal: HTTPLoader {
    let headers: HTTPHeaders = [
        "Content-Type": "application/json", "Cache-Control": "max-age=3600", "ETag": "\"0123456789abcdef\"",
        "Server": "benchmark",
    ]
    let body: Data

    func load(_ task: HTTPTask) { task.succeed(.ok, headers: headers, body: body) }
}

/// Has a body of 1 KiB, and confirms it: nginx, where there is one, or a server in this process.
enum Server {
    static let nginx = ProcessInfo.processInfo.environment["DEFERRED_NGINX"]

    static func url(_ path: String) -> URL? {
        // For nginx, all of them are the same file.
        nginx.map { URL(string: $0 + "/1k?" + path) } ?? shared?.url("/" + path)
    }

    static let shared = try? LoopbackServer { request in
        let headers: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=3600"]
        return request.headers["If-None-Match"] == nil
            ? .response(headers: headers, body: .pattern(count: 1 << 10)) : .response(304, headers: headers)
    }
}

struct Subject {
    let name: String
    let size: Int
    let count: Int
    var policy = CachePolicy.standard
    /// The number of URLs, which are asked for in turn.
    var urlCount = 1
    let makeChain: (Terminal) -> any HTTPLoader
}

let folder = FileManager.default.temporaryDirectory.appending(path: "caching-\(UUID().uuidString)")
defer { try? FileManager.default.removeItem(at: folder) }

let subjects = [
    Subject(name: "terminal", size: 1 << 10, count: 200_000) { $0 },
    // Without a cache, to see what links cost: two of these eight change the request.
    Subject(name: "eight-links", size: 1 << 10, count: 50_000) {
        ResetGuard() --> Autocancel() --> Deduplicate() --> Validate() --> Retry() --> Throttle(maximum: 16)
            --> ModifyRequest { $0.headers["Accept-Language"] = "en" }
            --> BasicAuthentication(user: "me", password: "secret") --> $0
    },
    Subject(name: "memory", size: 1 << 10, count: 200_000) { Cache(.memory()) --> $0 },
    Subject(name: "disk", size: 1 << 10, count: 20_000) { Cache(.disk(at: folder)) --> $0 },
    // Four times as many bytes as are kept in memory.
    Subject(name: "disk-files", size: 1 << 10, count: 20_000, urlCount: 16_384) { Cache(.disk(at: folder)) --> $0 },
    Subject(name: "disk-large", size: 32 << 20, count: 20) { Cache(.disk(at: folder, capacity: 1 << 30)) --> $0 },
    Subject(name: "request", size: 1 << 10, count: 5_000) { _ in URLSessionLoader() },
    Subject(name: "miss", size: 1 << 10, count: 5_000, policy: .bypass) { _ in
        Cache(.memory()) --> URLSessionLoader()
    },
    Subject(name: "validation", size: 1 << 10, count: 5_000, policy: .validate) { _ in
        Cache(.memory()) --> URLSessionLoader()
    },
    Subject(name: "validation-disk", size: 1 << 10, count: 5_000, policy: .validate) { _ in
        Cache(.disk(at: folder)) --> URLSessionLoader()
    },
]

/// Loads a request again and again; as many are in flight as a program has.
func run(_ subject: Subject, times: Int) -> Duration {
    let chain = subject.makeChain(Terminal(body: Data(repeating: 7, count: subject.size)))
    let isRemote = ["request", "miss", "validation", "validation-disk"].contains(subject.name)
    // Equal validations in flight would be sent once.
    let requests = (0..<(isRemote ? 64 : subject.urlCount)).map { number in
        var request = HTTPRequest(host: "example.com", path: "/\(subject.name)-\(number)")
        if isRemote, let url = Server.url("\(subject.name)-\(number)") { request = HTTPRequest(url: url) }
        request.headers = ["Accept": "application/json"]
        request.cachePolicy = subject.policy
        return request
    }
    for request in requests + requests { _ = chain.load(request).future.wait() }
    let (start, size) = (ContinuousClock.now, subject.size)
    let inFlight = DispatchSemaphore(value: 16)
    for number in 0..<times {
        inFlight.wait()
        chain.load(requests[number % requests.count]) { result in
            guard case .success(let response) = result, response.body.count == size else { exit(2) }
            inFlight.signal()
        }
    }
    for _ in 0..<16 { inFlight.wait() }
    let elapsed = start.duration(to: .now)
    for _ in 0..<16 { inFlight.signal() }
    return elapsed
}

/// Returns how long it takes to open a folder with so many files and to make the first request, which is stored there.
func open(files: Int) throws -> Duration {
    let large = folder.appending(path: "\(files)-files")
    let chain = Cache(.disk(at: large)) --> Terminal(body: Data(count: 1 << 10))
    let request = HTTPRequest(host: "example.com", path: "/first")
    _ = chain.load(request).future.wait()
    _ = chain.load(request).future.wait()
    for number in 0..<files {
        guard FileManager.default.createFile(atPath: large.path + "/h-\(number)", contents: nil) else { exit(3) }
    }
    let times = (0..<5).map { _ in
        let start = ContinuousClock.now
        let chain = Cache(.disk(at: large)) --> Terminal(body: Data())
        guard case .success(let response) = chain.load(request).future.wait(), response.body.count == 1 << 10 else {
            exit(4)
        }
        return start.duration(to: .now)
    }
    return times.sorted()[2]
}

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "--once", let subject = subjects.first(where: { $0.name == arguments[2] }) {
    _ = run(subject, times: Int(arguments[3]) ?? 0)
} else {
    for subject in subjects {
        let seconds = (0..<3).map { _ in run(subject, times: subject.count) / .seconds(1) }.sorted()[1]
        let rate = Double(subject.count) / seconds
        let throughput = rate * Double(subject.size) / Double(1 << 20)
        print("\(subject.name): \(Int(1e9 / rate)) ns, \(Int(rate)) a second, \(Int(throughput)) MiB/s")
    }
    for count in [0, 100_000] {
        print("opening a folder of \(count) files, and a hit: \(try open(files: count) / .microseconds(1)) µs")
    }
}

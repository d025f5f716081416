import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// Random origins, clients, clocks and accidents, against what must hold whatever they do.
///
/// `CACHE_STEPS` is the number of steps, `CACHE_SEED` the first seed; a seed makes the same steps each time. With `TMPDIR` on
/// a disk that is smaller than a cache's capacity, the disk fills.
@Suite(.ownThread, .timeLimit(.minutes(120)))
struct CacheModelTests {

    @Test func `whatever happens, a response is one that the server has given for the request`() throws {
        let steps = number("CACHE_STEPS") ?? rounds(50_000)
        var seed = number("CACHE_SEED") ?? 0
        let end = seed + max(1, steps / CacheModel.length)
        var counts = Cache.Statistics()
        var isDiskFull = false
        while seed < end {
            let model = try CacheModel(seed: UInt64(seed))
            if let failure = model.run() {
                Issue.record("CACHE_SEED=\(seed) CACHE_STEPS=1\n\(failure)")
                return
            }
            let own = model.statistics
            counts.hits += own.hits
            counts.stale += own.stale
            counts.validated += own.validated
            isDiskFull = isDiskFull || model.hasMetFullDisk
            seed += 1
        }
        var disk = statvfs()
        if statvfs(FileManager.default.temporaryDirectory.path, &disk) == 0,
            UInt64(disk.f_blocks) * UInt64(disk.f_frsize) < 1 << 20
        {
            #expect(isDiskFull)
        }
        // Otherwise nothing would have been tried.
        #expect(counts.hits > steps / 40 && counts.validated > steps / 200 && counts.stale > steps / 400)
    }
}

/// One run: a cache in memory, or two processes' caches with one folder, and the clients' view of what they have seen.
final class CacheModel {
    static let length = 500
    private struct Violation: Error { let text: String }

    private let paths = ["/a", "/b", "/c"]
    private let clock = CacheTestClock()
    private let origin = ModelOrigin()
    private let folder: TemporaryDirectory
    private let isOnDisk: Bool
    private let capacity: Int
    private var caches: [Cache] = []
    private var ended: [Cache] = []
    private var generator: SeededGenerator
    private var trace: [String] = []
    private(set) var statistics = Cache.Statistics()
    private(set) var hasMetFullDisk = false
    /// The least version that a request may get: what a change has made, or what was seen by equal requests.
    private var floors: [String: Int] = [:]
    /// When the responses with a number were made.
    private var times: [Int: CacheInstant] = [:]

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        folder = try TemporaryDirectory()
        isOnDisk = seed % 2 == 1
        capacity = [100_000, 400_000, 1 << 20][Int(seed / 2 % 3)]
        for index in 0..<(isOnDisk ? 2 : 1) { open(index) }
        for path in paths { origin.change(path, &generator) }
    }

    private var path: String { folder.url.appending(path: "cache").path }

    private func open(_ index: Int) {
        let storage: Cache.Storage =
            isOnDisk ? .disk(at: folder.url.appending(path: "cache"), capacity: capacity) : .memory(capacity: capacity)
        let cache = clock.cache(storage, servesStaleOnError: index == 1)
        if index < caches.count {
            add(caches[index])
            // A process ends with its requests. Here, these go on, and may write yet.
            ended.append(caches[index])
            caches[index] = cache
        } else {
            caches.append(cache)
        }
        _ = cache.flush().wait()
    }

    private func add(_ cache: Cache) {
        let other = cache.statistics
        statistics.hits += other.hits
        statistics.stale += other.stale
        statistics.validated += other.validated
        if cache.health.lastFailure?.reason.contains("No space left") == true { hasMetFullDisk = true }
    }

    private func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    private func pick<Element>(_ all: [Element]) -> Element { all[Int.random(in: 0..<all.count, using: &generator)] }

    private func note(_ text: String) { trace.append(text) }

    /// Returns what is wrong, if anything is.
    func run() -> String? {
        do {
            for _ in 0..<Self.length {
                try step()
                try checkSpace()
            }
        } catch let violation as Violation {
            return (trace.suffix(number("CACHE_TRACE") ?? 40) + ["* " + violation.text]).joined(separator: "\n")
        } catch {
            return "\(error)"
        }
        do { try finish() } catch {
            return (trace.suffix(number("CACHE_TRACE") ?? 40) + ["* \((error as? Violation)?.text ?? "\(error)")"])
                .joined(separator: "\n")
        }
        for cache in caches { add(cache) }
        return nil
    }

    private var instant: CacheInstant { clock.instant }

    private var inFlight: [InFlight] = []

    /// A request whose response the server holds back.
    private final class InFlight {
        let request: HTTPRequest
        let task: HTTPTask
        /// The step in which it began.
        let step: Int
        /// The least versions of a response with a part, and with the whole.
        let least: (Int, Int)
        /// The time at which it began, before which no stored response was chosen: by the least that the wall clock has shown
        /// since, as a folder is read later.
        var start: CacheInstant
        /// The most that the wall clock has shown since, before it was set.
        var highest: Int64
        var reading: DeferredTask.Task<Data>?
        var isCancelled = false

        init(
            _ request: HTTPRequest,
            _ task: HTTPTask,
            step: Int,
            least: (Int, Int),
            _ clock: CacheTestClock
        ) {
            self.request = request
            self.task = task
            self.step = step
            self.least = least
            start = clock.instant
            highest = start.wall
        }
    }

    /// On disk only where the number of steps is given: what processes do at once isn't the same each time for a seed.
    private var mayHoldBack: Bool { !isOnDisk || number("CACHE_STEPS") != nil }

    private var stepCount = 0
    /// The step in which the head of a response came to a client first, by the response's number.
    private var firstDelivery: [Int: Int] = [:]

    // MARK: Steps

    private func step() throws {
        stepCount += 1
        // Of what happens in the same millisecond, nobody knows what was first.
        clock.advance(by: 0.001)
        let path = pick(paths)
        switch Int.random(in: 0..<100, using: &generator) {
        // Whoever wants a body in memory waits for one that is on its way.
        case 0..<40: try origin.isSending(path) ? begin(path) : get(path)
        case 40..<60: try mayHoldBack ? begin(path) : get(path)
        case 60..<62: cancel()
        case 62..<67: if !origin.isSending(path) { try head(path) }
        case 67..<71: try change(path)
        case 71..<82:
            let seconds = pick([0.001, 0.5, 1, 3, 8, 30])
            note("advance \(seconds)")
            clock.advance(by: seconds)
        case 82..<84:
            let seconds: Double = pick([-31_536_000, -100, -5, 5, 100, 31_536_000])
            note("set the wall clock by \(seconds)")
            setWall(by: seconds)
        case 84..<93:
            origin.change(path, &generator)
            note("origin \(path): \(origin.storage.state.withLock { $0.resources[path] }!)")
        case 93..<95 where isOnDisk:
            let index = Int.random(in: 0..<2, using: &generator)
            note("process \(index) ends, and another begins")
            open(index)
        case 95..<98 where isOnDisk: damage()
        default: try remove(path)
        }
        try settle()
        if chance(3), origin.release(&generator) { note("a response is sent") }
        if chance(2), origin.feed(&generator) { note("bytes are sent") }
        try settle()
    }

    @discardableResult
    private func wait<Value>(_ future: Future<Value>, _ name: String) throws -> Value {
        for _ in 0..<400 {
            if let value = future.wait(until: .now() + .milliseconds(50)) { return value }
            // It may wait for a request that is on its way to the server, and is held back there.
            while origin.release(&generator) || origin.feed(&generator) {}
        }
        throw Violation(text: "never ends: \(name)")
    }

    private func settle() throws {
        for cache in caches + ended { try wait(cache.flush(), "the cache's flush") }
        noteTimes()
        try look()
    }

    private func noteTimes() {
        let last = origin.storage.state.withLock { $0.time }
        var now = instant
        now.wall = inFlight.map(\.highest).reduce(now.wall, max)
        for time in 0...last where times[time] == nil { times[time] = now }
    }

    /// A request that is on its way has a time before the clock was set back, and finds what is stored after that.
    private func setWall(by seconds: Double) {
        noteTimes()
        let highest = clock.instant.wall
        for (time, made) in times where firstDelivery[time] == nil { times[time]?.wall = max(made.wall, highest) }
        clock.setWall(by: seconds)
        for one in inFlight {
            one.start.wall = min(one.start.wall, clock.instant.wall)
            one.highest = max(one.highest, highest)
        }
    }

    private func request(_ method: HTTPMethod, _ path: String) -> HTTPRequest {
        var request = HTTPRequest.cacheable(method, path)
        if chance(3) { request.headers["Accept-Language"] = pick(["de", "en"]) }
        if chance(3) { request.headers["Authorization"] = pick(["ada", "bob"]) }
        if chance(5) { request.cachePartition = "p" }
        return request
    }

    /// Names the requests that get the same responses.
    private func kind(_ request: HTTPRequest) -> String {
        let fields = ["Accept-Language", "Authorization"].map { request.headers[$0] ?? "-" }
        return ([key(request)] + fields).joined(separator: " ")
    }

    private func key(_ request: HTTPRequest) -> String { request.path + " " + (request.cachePartition ?? "-") }

    private func floor(_ request: HTTPRequest, isWhole: Bool) -> Int {
        let kinds = [kind(request), key(request)] + (isWhole ? ["whole " + kind(request)] : [])
        return kinds.compactMap { floors[$0] }.max() ?? 0
    }

    private func randomGet(_ path: String) -> HTTPRequest {
        var request = request(.get, path)
        if chance(4) { request.cachePolicy = pick([.validate, .reload, .onlyCached, .anyAge, .bypass]) }
        if chance(6) {
            request.headers["Cache-Control"] = pick(["max-stale", "max-age=5", "min-fresh=5", "max-stale=4"])
        }
        if chance(5) { request.headers["Range"] = pick(["bytes=0-9", "bytes=10-", "bytes=5-200", "bytes=9000-"]) }
        if chance(12) { request.headers["If-None-Match"] = "\"\(Int.random(in: 1...20, using: &generator))\"" }
        if chance(3) { request = request.streamed() }
        return request
    }

    private func get(_ path: String) throws {
        let request = randomGet(path)
        let isOut = chance(12)
        let outage: StubLoader.Answer? = isOut ? (chance(2) ? .response(503) : .failure(.timedOut)) : nil
        origin.storage.state.withLock { $0.outage = outage }
        defer { origin.storage.state.withLock { $0.outage = nil } }
        let index = Int.random(in: 0..<caches.count, using: &generator)
        let result = try wait((caches[index] --> origin.stub).load(request).future, kind(request))
        noteTimes()
        note("\(index): \(request.headers.fields) \(kind(request)) \(request.cachePolicy) -> \(short(result))")
        guard case .success(let response) = result else { return }
        try noteHead(response, askedIn: stepCount)
        guard let body = try bytes(response) else { return }
        if [.onlyCached, .anyAge].contains(request.cachePolicy),
            origin.storage.state.withLock({ $0.asked.contains(request.id) })
        {
            throw Violation(text: "a request was sent")
        }
        try check(
            response,
            body,
            to: request,
            least: floor(request, isWhole: response.status == .ok),
            at: instant
        )
    }

    private func begin(_ path: String) throws {
        var request = randomGet(path)
        request[HeldOption.self] = true
        let index = Int.random(in: 0..<caches.count, using: &generator)
        note("\(index): \(request.headers.fields) \(kind(request)) \(request.cachePolicy) begins as \(stepCount)")
        let least = (floor(request, isWhole: false), floor(request, isWhole: true))
        let task = (caches[index] --> origin.stub).load(request)
        inFlight.append(InFlight(request, task, step: stepCount, least: least, clock))
    }

    private func cancel() {
        guard let one = inFlight.randomElement(using: &generator) else { return }
        note("\(one.step) is cancelled")
        one.isCancelled = true
        one.task.cancel()
        one.reading?.cancel()
    }

    /// Checks what has come of the requests in flight.
    private func look() throws {
        for one in inFlight {
            guard let result = one.task.peek() else { continue }
            guard case .success(let response) = result else {
                inFlight.removeAll { $0 === one }
                continue
            }
            if one.reading == nil {
                note("\(one.step): \(kind(one.request)) -> \(short(result))")
                try noteHead(response, askedIn: one.step)
                if let stream = response.stream {
                    one.reading = DeferredTask.Task { try await stream.collect() }
                } else {
                    one.reading = .success(response.body)
                }
            }
            guard let read = one.reading?.peek() else { continue }
            defer { inFlight.removeAll { $0 === one } }
            if case .success(let bytes) = read {
                let least = response.status == .ok ? one.least.1 : one.least.0
                try check(
                    response,
                    bytes,
                    to: one.request,
                    least: least,
                    at: hasWaited(one, response) ? nil : one.start
                )
            } else if !one.isCancelled, !isDamage(read) {
                throw Violation(text: "a body that can't be read: \(read)")
            }
        }
    }

    /// Whether a response was asked for before its head came. It may be shared then, however long it took.
    private func hasWaited(_ one: InFlight, _ response: HTTPResponse) -> Bool {
        guard let time = response.headers["Time"].flatMap({ Int($0) }), let first = firstDelivery[time] else {
            return false
        }
        return first >= one.step
    }

    /// Notes that a head has come. Only those that waited before share the response, whatever its freshness.
    private func noteHead(_ response: HTTPResponse, askedIn step: Int) throws {
        guard let time = response.headers["Time"].flatMap({ Int($0) }) else { return }
        if let first = firstDelivery[time], response.source == .network, first < step {
            throw Violation(text: "shared after its head had come")
        }
        firstDelivery[time] = min(firstDelivery[time] ?? stepCount, stepCount)
    }

    /// Sends all that the server holds back, and waits until everybody has got it.
    private func finish() throws {
        var failure: (any Error)?
        let isOver = settles(within: .seconds(20)) {
            while origin.release(&generator) || origin.feed(&generator) {}
            do { try settle() } catch { failure = error }
            return inFlight.isEmpty || failure != nil
        }
        if let failure { throw failure }
        guard isOver else { throw Violation(text: "never ends: \(inFlight.map { kind($0.request) })") }
        origin.forget()
        try checkSpace()
    }

    private func short(_ result: HTTPResult?) -> String {
        guard case .success(let response) = result else { return "failure" }
        let headers = response.headers
        return
            "\(response.status.code) \(response.source) version \(headers["Version"] ?? "?") \(headers["Time"] ?? "?")"
    }

    private func bytes(_ response: HTTPResponse) throws -> Data? {
        guard let stream = response.stream else { return response.body }
        let read = try wait(DeferredTask.Task { try await stream.collect() }.future, "a body")
        if case .success(let bytes) = read { return bytes }
        guard isDamage(read) else { throw Violation(text: "a body that can't be read: \(read)") }
        return nil
    }

    /// Whether a stream broke off at a damaged block: those before it have been delivered.
    private func isDamage(_ read: Result<Data, any Error>) -> Bool {
        guard isOnDisk, case .failure(let error) = read else { return false }
        return "\(error)".contains("the stored response is damaged")
    }

    private func head(_ path: String) throws {
        let request = request(.head, path).with(pick([.standard, .reload]))
        let index = Int.random(in: 0..<caches.count, using: &generator)
        let result = try wait((caches[index] --> origin.stub).load(request).future, kind(request))
        noteTimes()
        note("\(index): HEAD \(kind(request)) -> \(short(result))")
        guard case .success(let response) = result, response.source == .network, response.status == .ok else { return }
        // Without a validator, it tells nothing about what is stored.
        guard response.headers["ETag"] != nil else { return }
        // And nothing about parts.
        raise(response, "whole " + kind(request), path)
    }

    private func raise(_ response: HTTPResponse, _ kind: String, _ path: String) {
        guard let version = response.headers["Version"].flatMap({ Int($0) }), knowsAll(path) else { return }
        floors[kind] = max(floors[kind] ?? 0, version)
    }

    /// Two processes that store at the same moment don't know which of them has got the newer response.
    private func knowsAll(_ path: String) -> Bool {
        !isOnDisk || !origin.isSending(path) && !inFlight.contains { $0.request.path == path }
    }

    private func change(_ path: String) throws {
        let request = request(pick([.put, .post, .delete]), path)
        let index = Int.random(in: 0..<caches.count, using: &generator)
        try wait((caches[index] --> origin.stub).load(request).future, kind(request))
        note("\(index): \(request.method) \(key(request))")
        guard knowsAll(path) else { return }
        floors[key(request)] = origin.storage.state.withLock {
            $0.resources[path]?.version
        }
    }

    private func remove(_ path: String) throws {
        let cache = pick(caches)
        if chance(3) {
            note("removeAll")
            try wait(cache.removeAll(), "removing all")
            guard isOnDisk || cache.statistics.bytes == 0 else { throw Violation(text: "something is left") }
        } else if let url = URL(string: "https://example.com" + path) {
            note("remove \(path)")
            cache.remove(url)
        }
    }

    /// Does to a file of the folder what a disk, or somebody else, may do, also while it is written.
    private func damage() {
        if chance(10) {
            note("the folder is removed")
            try? FileManager.default.removeItem(atPath: path)
            return
        }
        let all = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        // Without the salt, a process can't tell whose variants those of another one are.
        let names = all.filter { !["lock", "salt", "room"].contains($0) }.sorted()
        guard let name = names.randomElement(using: &generator) else { return }
        let file = path + "/" + name
        guard var bytes = FileManager.default.contents(atPath: file) else { return }
        let way = Int.random(in: 0..<4, using: &generator)
        note("damage \(name) \(way)")
        switch way {
        case 0 where !bytes.isEmpty:
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try? bytes.write(to: URL(filePath: file))
        case 1: try? Data(bytes.prefix(bytes.count / 2)).write(to: URL(filePath: file))
        case 2:
            let other = pick(names)
            try? FileManager.default.removeItem(atPath: file)
            try? FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: path + "/" + other)
        default: try? FileManager.default.removeItem(atPath: file)
        }
    }

    // MARK: What must hold

    private func check(
        _ response: HTTPResponse,
        _ body: Data,
        to request: HTTPRequest,
        least: Int,
        at time: CacheInstant?
    ) throws {
        let headers = response.headers
        guard response.status == .ok || response.status == 206 else { return }
        guard let version = headers["Version"].flatMap({ Int($0) }), let size = headers["Size"].flatMap({ Int($0) }),
            let traits = headers["Kind"]?.split(separator: " "), traits.count == 2
        else { throw Violation(text: "fields are missing") }
        guard traits[0] == "true" || headers["User"] == ModelOrigin.user(request) else {
            throw Violation(
                text: "a response to \(headers["User"] ?? "?"): \(response.source) \(headersText(response))"
            )
        }
        let whole = ModelOrigin.body(
            request,
            version,
            size: size,
            isPublic: traits[0] == "true",
            varies: traits[1] == "true"
        )
        // Whoever takes a body as a stream may get one that is still on its way.
        let isCut =
            (response.source == .network || response.stream != nil || time == nil) && body.count < whole.count
            && response.status == .ok
        if response.status == 206 {
            let range = headers["Content-Range"]?.dropFirst(6).split(separator: "/")[0].split(separator: "-")
            guard let range, let first = Int(range[0]), let last = Int(range[1]), last < whole.count,
                body == whole.subdata(in: first..<last + 1), request.headers["Range"] != nil
            else { throw Violation(text: "wrong part, of \(body.count) bytes: \(headers)") }
        } else if body != (isCut ? whole.prefix(body.count) : whole) {
            throw Violation(
                text:
                    "wrong body, of \(body.count) bytes: \(String(decoding: body.prefix(20), as: UTF8.self)) for "
                    + "\(kind(request)): \(response.source) \(headersText(response))"
            )
        }
        if version < least {
            throw Violation(text: "version \(version) after \(least): \(response.source) \(headersText(response))")
        }
        if !isCut, request.cachePolicy != .bypass { raise(response, kind(request), request.path) }
        if let time { try checkAge(response, request, at: time) }
    }

    private func checkAge(_ response: HTTPResponse, _ request: HTTPRequest, at now: CacheInstant) throws {
        guard case .cache(let age, let isStale) = response.source else { return }
        let given = CacheDirectives(response.headers)
        if given.flags.contains(.noStore) || given.flags.contains(.noCache) { throw Violation(text: "not validated") }
        if [.reload, .validate, .bypass].contains(request.cachePolicy), !given.flags.contains(.immutable) {
            throw Violation(text: "the server was not asked")
        }
        if isStale, given.flags.contains(.mustRevalidate) {
            throw Violation(text: "stale: \(kind(request)) \(headersText(response))")
        }
        guard let time = response.headers["Time"].flatMap({ Int($0) }), let made = times[time] else {
            throw Violation(text: "a response that nobody has made")
        }
        // What the process can know: another one may have written the head since.
        var since = made
        if isOnDisk { since.steady = nil }
        let real = now.time(since: since)
        if age.components.seconds < real / 1_000 { throw Violation(text: "older than it says: \(real) ms") }
        // Without a lifetime, a week at most is guessed from the last change.
        let lifetime = given.maxAge ?? (response.headers["Last-Modified"] == nil ? 0 : 7 * 86_400)
        if !isStale, real >= lifetime * 1_000 { throw Violation(text: "not fresh: \(real) ms") }
    }

    private func headersText(_ response: HTTPResponse) -> String {
        response.headers.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
    }

    private func hasNoTemporaryFile() -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return !names.contains { $0.hasPrefix("t-") }
    }

    private func checkSpace() throws {
        // A process that has counted what others have stored meanwhile makes place for it.
        let isKept = { [caches, capacity] in caches.allSatisfy { $0.statistics.bytes <= capacity } }
        guard isOnDisk ? settles(within: .seconds(20), isKept) : isKept() else {
            throw Violation(text: "counts too much")
        }
        guard isOnDisk, let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
        if inFlight.isEmpty, !paths.contains(where: origin.isSending) {
            // A body that nobody waits for may just have ended.
            guard settles(within: .seconds(20), hasNoTemporaryFile) else {
                throw Violation(text: "a file is left over")
            }
        }
        var size = 0
        for name in names {
            var status = stat()
            if lstat(path + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
                size += Int(status.st_blocks) * 512
            }
        }
        // Each process counts what the others have stored when it has stored an eighth itself.
        if size > capacity + capacity / 8 * (1 + ended.count) { throw Violation(text: "\(size) bytes on disk") }
    }
}

private func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

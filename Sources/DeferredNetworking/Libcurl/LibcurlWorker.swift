#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking

/// The engine's event loop: waits for sockets, timers and letters, and drives libcurl. All its state is confined to the
/// engine's thread.
final class LibcurlWorker {
    /// The descriptors, which are created before the thread.
    struct Resources: Sendable {
        let poll: Int32
        let wakeup: Int32

        init() throws(POSIXError) {
            wakeup = wakeup_create()
            guard wakeup >= 0 else { throw POSIXError(POSIXFile.lastError) }
            poll = poll_set_create()
            guard poll >= 0 else {
                let error = POSIXError(POSIXFile.lastError)
                _ = Foundation.close(wakeup)
                throw error
            }
            poll_set_watch(poll, wakeup, 1, false)
        }

        func close() {
            _ = Foundation.close(poll)
            _ = Foundation.close(wakeup)
        }
    }

    private static let mostEvents = 64

    /// The maximum number of idle connections, and of idle handles.
    private static let mostIdle = 256

    private let resources: Resources
    private let options: LibcurlOptions
    private let mailbox: LibcurlMailbox
    private let multi: libcurl_multi?

    /// The running exchanges, by the identifiers of their tasks.
    private var exchanges: [Int: LibcurlExchange] = [:]
    private var handles: [LibcurlHandle] = []

    /// The exchanges that have events to deliver.
    private var pending: [LibcurlExchange] = []

    /// The time at which libcurl's next timer is due, if any.
    private var timer: ContinuousClock.Instant?

    init(_ resources: Resources, _ options: LibcurlOptions, _ mailbox: LibcurlMailbox) {
        self.resources = resources
        self.options = options
        self.mailbox = mailbox
        libcurl_enter()
        multi = libcurl_multi_create()
        libcurl_leave()
    }

    deinit {
        libcurl_enter()
        handles = []
        if let multi { libcurl_multi_destroy(multi) }
        libcurl_leave()
    }

    func run() {
        libcurl_enter()
        setUp()
        withUnsafeTemporaryAllocation(of: poll_ready.self, capacity: Self.mostEvents) { ready in
            while let letters = mailbox.collect() {
                letters.forEach(perform)
                runTimer()
                settle()
                // More letters may have come meanwhile, and nobody wakes up a thread that is awake.
                let count = letters.isEmpty ? wait(ready) : 0
                for event in ready[..<count] { act(event) }
                settle()
            }
        }
        for exchange in exchanges.values { cancel(exchange) }
        libcurl_leave()
    }

    private func setUp() {
        guard let multi else { return }
        let context = Unmanaged.passUnretained(self).toOpaque()
        libcurl_multi_set_sockets(
            multi,
            { _, socket, what, context, known in
                context.map { Unmanaged<LibcurlWorker>.fromOpaque($0).takeUnretainedValue() }?
                    .watch(socket, what, isKnown: known != nil)
                return 0
            },
            context
        )
        libcurl_multi_set_timer(
            multi,
            { _, milliseconds, context in
                context.map { Unmanaged<LibcurlWorker>.fromOpaque($0).takeUnretainedValue() }?.setTimer(milliseconds)
                return 0
            },
            context
        )
        libcurl_multi_set_long(multi, Int32(CURLMOPT_MAX_HOST_CONNECTIONS), options.maximumConnectionsPerHost)
        // By default, this depends on the number of running transfers, so that the last of many would close the
        // connections of the others.
        libcurl_multi_set_long(
            multi,
            Int32(CURLMOPT_MAXCONNECTS),
            max(Self.mostIdle, options.maximumConnectionsPerHost)
        )
        // Leaves the limit to the server.
        libcurl_multi_set_long(multi, Int32(CURLMOPT_MAX_CONCURRENT_STREAMS), 1_000)
    }

    // MARK: What happens

    private func watch(_ socket: Int32, _ what: Int32, isKnown: Bool) {
        poll_set_watch(resources.poll, socket, what, isKnown)
        guard let multi, !isKnown || what == CURL_POLL_REMOVE else { return }
        libcurl_multi_assign(multi, socket, what == CURL_POLL_REMOVE ? nil : UnsafeMutableRawPointer(bitPattern: 1))
    }

    private func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? nil : ContinuousClock.now + .milliseconds(milliseconds)
    }

    private func wait(_ ready: UnsafeMutableBufferPointer<poll_ready>) -> Int {
        var milliseconds: Int32 = -1
        if let timer {
            let rest = (timer - ContinuousClock.now) / .milliseconds(1)
            milliseconds = Int32(max(0, min(rest.rounded(.up), 1_000_000)))
        }
        libcurl_leave()
        defer { libcurl_enter() }
        return Int(poll_set_wait(resources.poll, ready.baseAddress, Int32(ready.count), milliseconds))
    }

    private func act(_ event: poll_ready) {
        if event.descriptor == resources.wakeup {
            wakeup_clear(resources.wakeup)
        } else if let multi {
            libcurl_multi_act(multi, event.descriptor, event.mask)
        }
    }

    /// Runs libcurl's timer once if it is due. A fast transfer sets a timer that is due at once, again and again;
    /// letters that pause the transfer must get a chance in between.
    private func runTimer() {
        guard let multi, let due = timer, due <= ContinuousClock.now else { return }
        timer = nil
        libcurl_multi_act(multi, Int32(CURL_SOCKET_TIMEOUT), 0)
    }

    /// Delivers pending events, and ends the exchanges that are complete.
    private func settle() {
        while !pending.isEmpty {
            let exchanges = pending
            pending.removeAll(keepingCapacity: true)
            for exchange in exchanges where exchange.mustFlush { exchange.flush() }
        }
        guard let multi else { return }
        var done = libcurl_done()
        while libcurl_multi_next_done(multi, &done) {
            var context: UnsafeMutableRawPointer?
            libcurl_easy_get_pointer(done.handle, Int32(CURLINFO_PRIVATE), &context)
            guard let exchange = LibcurlExchange.of(context) else { continue }
            remove(exchange)
            exchange.end(done.code)
        }
    }

    // MARK: Letters

    private func perform(_ letter: LibcurlMailbox.Letter) {
        switch letter {
        case .begin(let task): begin(task)
        case .cancel(let task):
            if let exchange = exchanges[task.identifier] {
                cancel(exchange)
            } else {
                end(task, URLError(.cancelled, failing: task.request.url))
            }
        case .hold(let task): exchanges[task.identifier]?.reconsiderHold()
        case .caughtUp(let task): exchanges[task.identifier]?.caughtUp()
        case .proceed(let task): exchanges[task.identifier]?.proceed()
        }
    }

    private func begin(_ task: LibcurlTask) {
        guard !task.isCancelled else { return end(task, URLError(.cancelled, failing: task.request.url)) }
        guard let multi, let handle = handles.popLast() ?? LibcurlHandle(options) else {
            return end(
                task,
                URLError(.unknown, failing: task.request.url, description: "Cannot create a libcurl handle")
            )
        }
        let exchange = LibcurlExchange(task, on: handle, options) { [unowned self] in pending.append($0) }
        exchanges[task.identifier] = exchange
        guard libcurl_multi_add(multi, handle.easy) == 0 else {
            exchanges[task.identifier] = nil
            return end(
                task,
                URLError(.unknown, failing: task.request.url, description: "libcurl refused to start the transfer")
            )
        }
    }

    private func end(_ task: LibcurlTask, _ error: any Error) {
        task.end(nil, error)
    }

    private func cancel(_ exchange: LibcurlExchange) {
        remove(exchange)
        exchange.cancel()
    }

    /// Removes an exchange from its handle, which becomes free for another one.
    private func remove(_ exchange: LibcurlExchange) {
        exchanges[exchange.task.identifier] = nil
        if let multi { libcurl_multi_remove(multi, exchange.handle.easy) }
        if handles.count < Self.mostIdle { handles.append(exchange.handle) }
    }
}
#endif

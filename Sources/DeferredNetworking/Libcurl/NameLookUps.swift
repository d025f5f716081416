#if os(Linux)
internal import DeferredCore
import Foundation

/// The look-ups of names of all engines of the process: by `getaddrinfo`, which can't be cancelled, on at most 64 threads.
///
/// libcurl's own has a thread for each request, and keeps it until the name server has answered or been given up.
final class NameLookUps: Sendable {
    typealias Outcome = LookUpStateMachine.Outcome

    enum Answer {
        case known(Outcome)

        /// The handler is called, unless that is cancelled before.
        case pending(Registration)
    }

    private struct Handler {
        let handle: @Sendable (Outcome) -> Void
    }

    private struct State {
        var machine: LookUpStateMachine
        var handlers: [Int: Handler] = [:]
        var lastWaiter = 0

        /// The addresses that did not answer, and the time until which others are preferred.
        var silent: [String: ContinuousClock.Instant] = [:]
    }

    static let shared = NameLookUps(limit: 64, lookUp: system)

    /// The time for which an address that did not answer comes last.
    private static let silenceLifetime = Duration.seconds(60)

    private let state: Lock<State>
    private let lookUp: @Sendable (String) -> Outcome

    init(limit: Int, lookUp: @escaping @Sendable (String) -> Outcome) {
        state = Lock(State(machine: LookUpStateMachine(limit: limit)))
        self.lookUp = lookUp
    }

    /// Returns the addresses of a name, or calls `handler` with them, on a thread of the look-ups.
    func addresses(of name: String, handler: @escaping @Sendable (Outcome) -> Void) -> Answer {
        let (answer, waiter) = state.withLock { state in
            state.lastWaiter += 1
            let answer = state.machine.asked(for: name, by: state.lastWaiter, at: .now)
            if case .known = answer {} else { state.handlers[state.lastWaiter] = Handler(handle: handler) }
            return (answer, state.lastWaiter)
        }
        switch answer {
        case .known(let outcome): return .known(outcome)
        case .begin: begin(name)
        case .wait: break
        }
        return .pending(Registration(onCancel: { self.withdraw(waiter, from: name) }))
    }

    private func withdraw(_ waiter: Int, from name: String) {
        // Released outside of the lock.
        let handler = state.withLock { state in
            state.machine.withdrew(waiter, from: name)
            return state.handlers.removeValue(forKey: waiter)
        }
        withExtendedLifetime(handler) {}
    }

    private func begin(_ name: String) {
        var next: String? = name
        while let name = next {
            do throws(POSIXError) {
                return try QuietThread.start("Deferred.names") { [self] in
                    var next: String? = name
                    while let name = next { next = end(name, with: lookUp(name)) }
                }
            } catch {
                let reason = "no thread can be started: " + String(cString: strerror(error.code.rawValue))
                next = end(name, with: .failure(LookUpFailure(reason: reason, isTemporary: true)))
            }
        }
    }

    /// Returns the name to look up next.
    private func end(_ name: String, with outcome: Outcome) -> String? {
        let (handlers, next) = state.withLock { state in
            let end = state.machine.ended(name, with: outcome, at: .now)
            return (end.waiters.compactMap { state.handlers.removeValue(forKey: $0) }, end.next)
        }
        for handler in handlers { handler.handle(outcome) }
        return next
    }

    // MARK: Order

    /// Puts addresses last for a while.
    func noteSilent(_ addresses: [String]) {
        guard !addresses.isEmpty else { return }
        let now = ContinuousClock.now
        state.withLock { state in
            state.silent = state.silent.filter { now < $0.value }
            for address in addresses { state.silent[address] = now + Self.silenceLifetime }
        }
    }

    /// Returns addresses in the order in which to try them: those that did not answer last, and otherwise the families in
    /// turn, as RFC 8305 has it, beginning with the first address.
    func inOrder(_ addresses: [String]) -> [String] {
        let isFirst6 = addresses.first?.contains(":") ?? false
        var first = addresses.filter { $0.contains(":") == isFirst6 }[...]
        var second = addresses.filter { $0.contains(":") != isFirst6 }[...]
        var mixed: [String] = []
        while let address = first.popFirst() ?? second.popFirst() {
            mixed.append(address)
            swap(&first, &second)
        }
        let now = ContinuousClock.now
        let silent = state.withLock { $0.silent }
        let isSilent = { (address: String) in silent[address].map { now < $0 } ?? false }
        return mixed.filter { !isSilent($0) } + mixed.filter(isSilent)
    }

    // MARK: getaddrinfo

    @Sendable private static func system(_ name: String) -> Outcome {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        guard code == 0 else {
            return .failure(LookUpFailure(reason: String(cString: gai_strerror(code)), isTemporary: code == EAI_AGAIN))
        }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        for entry in sequence(first: list, next: { $0?.pointee.ai_next }) {
            guard let entry = entry?.pointee else { break }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let size = socklen_t(text.count)
            guard getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, size, nil, 0, NI_NUMERICHOST) == 0 else {
                continue
            }
            let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if !addresses.contains(address) { addresses.append(address) }
        }
        return .success(addresses)
    }
}
#endif

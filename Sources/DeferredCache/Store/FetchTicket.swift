internal import DeferredCore
internal import DeferredHTTP
internal import Synchronization

/// The right to store the response to a request, which is void once the resource has been changed or removed: a response
/// that was sent before that is outdated when it arrives after it.
final class FetchTicket: Sendable {
    /// The fields of the request.
    private let request: HTTPHeaders
    private let salt: [UInt8]
    /// The mark of the resource when the request was sent, by which a store sees changes by other processes.
    let mark: UInt64
    private let isVoidFlag = Atomic(false)
    /// Later requests have greater numbers.
    fileprivate let number: UInt64
    private static let lastNumber = Atomic<UInt64>(0)

    init(_ request: HTTPHeaders, salt: [UInt8], mark: UInt64 = 0) {
        (self.request, self.salt, self.mark) = (request, salt, mark)
        number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Returns whether a stored response could have been chosen for the request: RFC 9111, section 4.1.
    func couldChoose(_ head: StoredHead) -> Bool {
        head.variant.matches(request, isPublic: head.isPublic, salt: salt)
    }

    /// Returns whether a stored response must not be chosen any more once a response to the request is stored.
    ///
    /// - Parameter isPublic: Whether that is for everybody, and so also in place of what was for nobody in particular.
    func replaces(_ head: StoredHead, isPublic: Bool) -> Bool {
        if couldChoose(head) { return true }
        return isPublic && head.variant.matches(request.withoutOwner, isPublic: head.isPublic, salt: salt)
    }

    // Relaxed: whoever makes a ticket void removes what is stored after that, under the store's lock or in its queue.
    var isVoid: Bool { isVoidFlag.load(ordering: .relaxed) }

    fileprivate func makeVoid() { isVoidFlag.store(true, ordering: .relaxed) }
}

/// The tickets of the exchanges under way.
final class FetchTickets: Sendable {
    private let tickets = Lock<[CacheKey: [ObjectIdentifier: FetchTicket]]>([:])

    func begin(_ key: CacheKey, _ ticket: FetchTicket) -> FetchTicket {
        tickets.withLock { $0[key, default: [:]][ObjectIdentifier(ticket)] = ticket }
        return ticket
    }

    func end(_ key: CacheKey, _ ticket: FetchTicket) {
        tickets.withLock { tickets in
            tickets[key]?[ObjectIdentifier(ticket)] = nil
            if tickets[key]?.isEmpty == true { tickets[key] = nil }
        }
    }

    /// Makes the tickets void of requests that were sent before another one, and that are overtaken by its response: theirs
    /// would be taken for the newest.
    ///
    /// - Parameter head: The head of the response, which is none for requests that get another variant; `nil` if it isn't
    ///   stored.
    func makeVoid(_ key: CacheKey, before ticket: FetchTicket, _ head: StoredHead?) {
        tickets.withLock { tickets in
            for older in (tickets[key] ?? [:]).values where older.number < ticket.number {
                if head.map(older.couldChoose) ?? true { older.makeVoid() }
            }
        }
    }

    /// Makes the tickets of some keys void.
    func makeVoid(where isChanged: (CacheKey) -> Bool) {
        tickets.withLock { tickets in
            for (key, own) in tickets where isChanged(key) { own.values.forEach { $0.makeVoid() } }
        }
    }
}

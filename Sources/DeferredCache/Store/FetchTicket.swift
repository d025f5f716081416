internal import DeferredCore
internal import DeferredHTTP
internal import Synchronization

/// The right to store the response to a request, which is void once the resource has been changed or removed: a response
/// that was sent before that is outdated when it arrives after it. So is one that a later request's response has overtaken.
final class FetchTicket: Sendable {
    /// A later request whose response is there. No more than what is needed of it: a slow request may be overtaken for hours.
    private struct Overtaker: Sendable, Equatable {
        /// The fields of the request.
        let asked: HTTPHeaders
        let etag: String?
        let lastModified: String?

        /// Returns whether a response would be taken in place of the one that is there, and is another version.
        func keepsOut(_ head: StoredHead, salt: [UInt8]) -> Bool {
            guard head.isFor(asked, salt: salt) else { return false }
            if let etag { return head.headers["ETag"] != etag }
            return lastModified == nil || head.headers["Last-Modified"] != lastModified
        }
    }

    private struct State: Sendable {
        var isVoid = false
        var overtakers: [Overtaker] = []
    }

    /// More different ones make a ticket void.
    private static let mostOvertakers = 16

    /// The fields of the request.
    private let asked: HTTPHeaders
    private let salt: [UInt8]
    /// The mark of the resource when the request was sent, by which a store sees changes by other processes.
    let mark: UInt64
    /// Later requests have greater numbers.
    fileprivate let number: UInt64
    private static let lastNumber = Atomic<UInt64>(0)
    private let state = Lock(State())

    init(_ asked: HTTPHeaders, salt: [UInt8], mark: UInt64 = 0) {
        self.asked = asked
        self.salt = salt
        self.mark = mark
        number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Returns whether a stored response could have been chosen for the request.
    func couldChoose(_ head: StoredHead) -> Bool { head.isFor(asked, salt: salt) }

    /// Returns whether a stored response must not be chosen any more once a response to the request is stored.
    ///
    /// - Parameter isPublic: Whether that is for everybody, and so also in place of what was for nobody in particular.
    func replaces(_ head: StoredHead, isPublic: Bool) -> Bool {
        if couldChoose(head) { return true }
        return isPublic && head.isFor(asked.without(Variant.owners), salt: salt)
    }

    /// Returns whether the response with this head may be stored, and is the newest as far as is known.
    ///
    /// Whoever makes a ticket void removes what is stored after that, under the store's lock or in its queue.
    func allows(_ head: StoredHead) -> Bool {
        state.withLock { state in !state.isVoid && !state.overtakers.contains { $0.keepsOut(head, salt: salt) } }
    }

    fileprivate func makeVoid() { state.withLock { $0.isVoid = true } }

    fileprivate func beOvertaken(by later: FetchTicket, _ response: HTTPHeaders) {
        let new = Overtaker(
            asked: later.asked,
            etag: response["ETag"],
            lastModified: response["Last-Modified"]
        )
        state.withLock { state in
            if state.isVoid || state.overtakers.contains(new) { return }
            state.overtakers.append(new)
            if state.overtakers.count > Self.mostOvertakers { (state.isVoid, state.overtakers) = (true, []) }
        }
    }
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

    /// Notes that the response to a request is there, before those to requests that were sent before it.
    func overtake(_ key: CacheKey, _ ticket: FetchTicket, _ response: HTTPHeaders) {
        tickets.withLock { tickets in
            for older in (tickets[key] ?? [:]).values where older.number < ticket.number {
                older.beOvertaken(by: ticket, response)
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

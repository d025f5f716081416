import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FetchTicketTests {
    private let tickets = FetchTickets()
    private let key = RulesTable.key

    private func ticket(_ fields: HTTPHeaders = [:]) -> FetchTicket {
        tickets.begin(key, FetchTicket(fields, salt: RulesTable.salt))
    }

    /// What came later, by the fields of its request and its response; what comes now, by those of the response to a plain
    /// request; and whether it may be stored.
    @Test(
        arguments: [
            ([:], [:], "200", false),
            ([:], ["ETag": "\"a\""], "200; ETag: \"a\"", true),
            ([:], ["ETag": "\"a\""], "200; ETag: \"b\"", false),
            ([:], ["ETag": "\"a\""], "200; Last-Modified: @-9", false),
            (["A": "1"], [:], "200", false),
            (["A": "1"], [:], "200; Vary: A", true),
            (["Authorization": "b"], [:], "200", true),
            (["Authorization": "b"], [:], "200; Cache-Control: public", false),
        ] as [(HTTPHeaders, HTTPHeaders, String, Bool)]
    )
    func `a response that a later request would have got is not stored`(
        asked: HTTPHeaders,
        given: HTTPHeaders,
        response: String,
        isAllowed: Bool
    ) throws {
        let older = ticket()
        let later = ticket(asked)
        tickets.overtake(key, later, given)
        let head = try #require(RulesTable.stored(response))
        #expect(older.allows(head) == isAllowed)
        #expect(later.allows(head), "nothing has overtaken it")
        #expect(ticket().allows(head), "it was sent after that")
    }

    @Test func `a change makes the tickets of its keys void`() throws {
        let head = try #require(RulesTable.stored("200"))
        let ticket = ticket()
        tickets.makeVoid { $0 != key }
        #expect(ticket.allows(head))
        tickets.makeVoid { $0 == key }
        #expect(!ticket.allows(head))
    }

    @Test func `a request that is overtaken by many different ones keeps a bounded number of them`() throws {
        let head = try #require(RulesTable.stored("200; Vary: A"))
        let older = ticket()
        for _ in 0..<100 { tickets.overtake(key, ticket(["A": "1"]), [:]) }
        #expect(older.allows(head), "they are equal")
        for number in 0..<100 { tickets.overtake(key, ticket(["A": "\(number)"]), [:]) }
        #expect(!older.allows(head))
    }

    @Test func `a request that has ended is not overtaken`() throws {
        let head = try #require(RulesTable.stored("200"))
        let older = ticket()
        tickets.end(key, older)
        tickets.overtake(key, ticket(), [:])
        #expect(older.allows(head))
    }
}

import DeferredHTTP
import DeferredNetworking
import DeferredTesting
import Foundation
import TestSupport
import Testing

extension CSVDecoder: BodyDecoder {}

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPResponseJSONTests {
    private struct User: Decodable, Equatable { let name: String }

    @Test func `JSON is decoded`() throws {
        let response = try #require(try StubLoader(.json(#"{"name": "Ada"}"#)).load(.example).peek()?.get())
        #expect(try response.decode(User.self) == User(name: "Ada"))
        let inferred: User = try response.decode()
        #expect(inferred.name == "Ada" && response.text.contains("Ada"))
    }

    @Test func `a decoder of one's own is used`() throws {
        let stub = StubLoader(.response(body: "name,age\nAda,36\nGrace,85\n"))
        let response = try #require(try stub.load(.example).peek()?.get())
        #expect(try response.decode([User].self, using: CSVDecoder()) == [User(name: "Ada"), User(name: "Grace")])
        let shared: any BodyDecoder = CSVDecoder()
        let inferred: [User] = try response.decode(using: shared)
        #expect(inferred.count == 2)
        let error = #expect(throws: HTTPError.self) { try response.decode(User.self, using: CSVDecoder()) }
        #expect(error?.code == .cannotDecode && error?.underlying is CSVDecoder.NotAList)
    }

    @Test func `property lists are decoded`() throws {
        let data = try PropertyListEncoder().encode(["name": "Ada"])
        let response = try #require(try StubLoader(.response(data: data)).load(.example).peek()?.get())
        #expect(try response.decode(User.self, using: PropertyListDecoder()) == User(name: "Ada"))
    }

    @Test func `a body of another type fails with request, response and cause`() throws {
        let response = try #require(try StubLoader(.json("[]")).load(.example).peek()?.get())
        let error = #expect(throws: HTTPError.self) { try response.decode(User.self) }
        #expect(error?.code == .cannotDecode && error?.response?.status == .ok && error?.underlying is DecodingError)
    }
}

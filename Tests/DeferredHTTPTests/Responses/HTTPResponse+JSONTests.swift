import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPResponseJSONTests {
    private struct User: Decodable, Equatable { let name: String }

    @Test func `JSON is decoded`() throws {
        let response = try #require(try StubLoader(.json(#"{"name": "Ada"}"#)).load(.example).peek()?.get())
        #expect(try response.decode(User.self) == User(name: "Ada"))
        let inferred: User = try response.decode()
        #expect(inferred.name == "Ada" && response.text.contains("Ada"))
    }

    @Test func `a body of another type fails with request, response and cause`() throws {
        let response = try #require(try StubLoader(.json("[]")).load(.example).peek()?.get())
        let error = #expect(throws: HTTPError.self) { try response.decode(User.self) }
        #expect(error?.code == .cannotDecode && error?.response?.status == .ok && error?.underlying is DecodingError)
    }
}

import DeferredNetworking
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPHeadersTests {
    private let headers: HTTPHeaders = ["Accept": "a", "X-Tag": "1", "Host": "h", "x-tag": "2"]

    @Test func `names are compared without regard to case`() {
        #expect(headers["ACCEPT"] == "a" && headers["x-TAG"] == "1" && headers["Missing"] == nil)
        #expect(headers.values(for: "X-TAG") == ["1", "2"])
    }

    @Test func `setting replaces all of a name, in the place of the first`() {
        var headers = headers
        headers["X-TAG"] = "3"
        #expect(headers.map(\.name) == ["Accept", "X-TAG", "Host"] && headers["x-tag"] == "3")
        headers["x-Tag"] = nil
        #expect(headers.map(\.name) == ["Accept", "Host"])
        headers["New"] = "n"
        #expect(headers.map(\.value) == ["a", "h", "n"])
    }

    @Test func `order and repetitions are kept`() {
        var headers = headers
        headers.add(name: "Accept", value: "b")
        #expect(headers.map(\.value) == ["a", "1", "h", "2", "b"])
        headers.remove("accept")
        #expect(headers.map(\.value) == ["1", "h", "2"])
    }

    @Test func `missing fields can be added`() {
        var headers: HTTPHeaders = ["accept": "mine"]
        headers.addMissing(from: self.headers)
        #expect(headers.map(\.value) == ["mine", "1", "h", "2"])
    }

    @Test func `headers are equal that differ in the case of names`() {
        #expect(headers == ["accept": "a", "X-TAG": "1", "host": "h", "X-Tag": "2"])
        #expect(Set([headers, ["accept": "a", "X-TAG": "1", "host": "h", "X-Tag": "2"]]).count == 1)
        #expect(headers != ["Accept": "A", "X-Tag": "1", "Host": "h", "x-tag": "2"])
    }
}

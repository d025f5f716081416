import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers `/ok` with "hello", `/echo` with the request's `X-Echo` and `/plain` with a response that isn't HTTP, and leaves
/// `/hang` unanswered.
final class StubProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url, url.path != "/hang",
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:])
        else { return }
        if url.path == "/plain" {
            let plain = URLResponse(url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil)
            return finish(with: plain, "1")
        }
        guard url.path == "/priority" else {
            return finish(
                with: response,
                url.path == "/echo" ? request.value(forHTTPHeaderField: "X-Echo") ?? "" : "hello"
            )
        }
        // The task asks for its priority on the queue on which this method is called, and waits for it.
        // SAFETY: used there only from here on.
        nonisolated(unsafe) let stub = self
        DispatchQueue.global().async { stub.finish(with: response, "\(stub.task?.priority ?? -1)") }
    }

    private func finish(with response: URLResponse, _ body: String) {
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data(body.utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}

    static func session(headers: [String: String] = [:], delegateQueue: OperationQueue? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [StubProtocol.self]
        configuration.httpAdditionalHeaders = headers
        return URLSession(configuration: configuration, delegate: nil, delegateQueue: delegateQueue)
    }
}

/// Loads no request: a session that has it is one that libcurl can't stand for.
final class AbsentProtocol: URLProtocol {
    /// The protocols of a session whose requests run over `URLSession`, and to the network.
    static var needingSession: [AnyClass] {
        [AbsentProtocol.self] + (URLSessionConfiguration.default.protocolClasses ?? [])
    }

    override class func canInit(with request: URLRequest) -> Bool { false }
}

public import DeferredNetworking
public import Foundation

extension LoopbackServer {
    /// A request as the server received it.
    public struct Request: Sendable {
        /// The position of the request among all requests to the server, counted from 1.
        public let number: Int

        /// The position of the request's connection among all connections to the server, counted from 1.
        public let connectionNumber: Int

        /// The method, such as `GET`.
        public let method: String

        /// The request target, exactly as it was sent.
        public let target: String

        /// The protocol version, such as `HTTP/1.1`.
        public let version: String

        /// The header fields.
        public let headers: HTTPHeaders

        /// The bytes of the head, exactly as they were sent, from the request line to the empty line.
        public let head: Data

        /// The body, without any chunk framing. Empty if only the head has been read.
        public internal(set) var body = Data()

        /// The fields behind a body that came in chunks.
        public internal(set) var trailers: HTTPHeaders = [:]

        /// The path of ``target``, percent-decoded, without the query. A path with an invalid escape is not decoded at
        /// all.
        public var path: String {
            let path = originTarget.prefix { $0 != "?" }
            return path.removingPercentEncoding ?? String(path)
        }

        /// The decoded names and values of the query, in order.
        public var queryItems: [URLQueryItem] {
            guard let mark = originTarget.firstIndex(of: "?") else { return [] }
            let query = originTarget[originTarget.index(after: mark)...]
            return query.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let decoded = parts.map { $0.removingPercentEncoding ?? String($0) }
                return URLQueryItem(name: decoded[0], value: decoded.count > 1 ? decoded[1] : nil)
            }
        }

        /// Returns the value of the first query item with this name.
        public func query(_ name: String) -> String? {
            queryItems.first { $0.name == name }?.value
        }

        init(_ head: RequestHead, number: Int, connectionNumber: Int) {
            self.number = number
            self.connectionNumber = connectionNumber
            self.head = head.bytes
            method = head.method
            target = head.target
            version = head.version
            headers = head.headers
        }

        /// The target without the scheme and host that clients send to a proxy.
        private var originTarget: Substring {
            guard !target.hasPrefix("/"), let scheme = target.range(of: "://") else { return target[...] }
            let afterScheme = target[scheme.upperBound...]
            return afterScheme.firstIndex(of: "/").map { afterScheme[$0...] } ?? "/"
        }
    }
}

#if os(Linux)
import CLibcurl
import Foundation

/// The facts that libcurl has about the last request of a handle, and about its connection.
extension LibcurlHandle {
    /// True if there was no descriptor left for the last connection.
    var lacksDescriptors: Bool { sockets.pointee.error == EMFILE }

    /// True if all requests go through a proxy with TLS. The environment's may be one as well.
    private var hasSecureProxy: Bool {
        if case .server(let url) = options.proxy { url.scheme?.lowercased() == "https" } else { false }
    }

    /// The facts about the last failure.
    var failureContext: LibcurlFailure.Context {
        let connectStatus = long(CURLINFO_HTTP_CONNECTCODE)
        let code = sockets.pointee.error != 0 ? Int(sockets.pointee.error) : long(CURLINFO_OS_ERRNO)
        return LibcurlFailure.Context(
            text: failureText,
            cause: POSIXErrorCode(rawValue: Int32(code)),
            proxyRefusal: connectStatus == 0 || (200..<300).contains(connectStatus) ? nil : connectStatus,
            // libcurl sets it to 1 when a handshake with a proxy begins.
            isInProxyHandshake: connectStatus == 0 && (hasSecureProxy || long(CURLINFO_PROXY_SSL_VERIFYRESULT) != 0),
            address: address
        )
    }

    /// libcurl's description of the last failure; empty if it gave none.
    var failureText: String { String(cString: errorText) }

    /// The status of a response over HTTP/2 whose head libcurl has read, even if it never delivered it; or nil.
    var statusOverHTTP2: Int? {
        let status = Int(libcurl_easy_http2_status(easy))
        return status == 0 ? nil : status
    }

    /// The address of the last connection: a server's or a proxy's.
    private var address: String {
        let host = remoteHost
        return host.contains(":") ? "[\(host)]:\(remotePort)" : "\(host):\(remotePort)"
    }

    var remoteHost: String {
        var address: UnsafePointer<CChar>?
        libcurl_easy_get(easy, Int32(CURLINFO_PRIMARY_IP), &address)
        return address.map { String(cString: $0) } ?? ""
    }

    var remotePort: Int { long(CURLINFO_PRIMARY_PORT) }

    private func long(_ info: Int) -> Int {
        var result = 0
        libcurl_easy_get(easy, Int32(info), &result)
        return result
    }

    /// The local port of the request's connection, or 0 if it has none.
    var localPort: Int { long(CURLINFO_LOCAL_PORT) }

    /// True if no connection was made for the request.
    var hasOldConnection: Bool { long(CURLINFO_NUM_CONNECTS) == 0 }

    /// Returns the metrics of the last request.
    ///
    /// - Parameters:
    ///   - lookUp: The time that went by, before libcurl began, for the addresses of a name.
    ///   - race: The further time to connect to one of them.
    func metrics(protocolVersion: String?, lookUp: Duration, race: Duration) -> URLClient.Metrics {
        func time(_ info: Int) -> Duration {
            let time = self.time(info)
            return time > .zero ? time + lookUp + race : time
        }
        return URLClient.Metrics(
            nameLookup: self.time(CURLINFO_NAMELOOKUP_TIME_T) + lookUp,
            connect: time(CURLINFO_CONNECT_TIME_T),
            tlsHandshake: time(CURLINFO_APPCONNECT_TIME_T),
            firstByte: time(CURLINFO_STARTTRANSFER_TIME_T),
            total: time(CURLINFO_TOTAL_TIME_T),
            isReused: hasOldConnection && protocolVersion != nil,
            protocolVersion: protocolVersion,
            address: address
        )
    }

    private func time(_ info: Int) -> Duration {
        var microseconds: Int64 = 0
        libcurl_easy_get(easy, Int32(info), &microseconds)
        return .microseconds(microseconds)
    }
}
#endif

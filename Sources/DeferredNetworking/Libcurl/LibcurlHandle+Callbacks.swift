#if os(Linux)
import CLibcurl
import Foundation

/// The closures that libcurl calls for a request, which pass all to the transfer on the handle.
extension LibcurlHandle {
    private static let contextOptions = [
        CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PREREQDATA,
        CURLOPT_RESOLVER_START_DATA, CURLOPT_PRIVATE, CURLOPT_DEBUGDATA, CURLOPT_TRAILERDATA,
    ]

    /// Returns the transfer on a handle, which is the context of its callbacks.
    static func transfer(of context: UnsafeMutableRawPointer?) -> LibcurlTransfer? {
        context.flatMap { Unmanaged<LibcurlHandle>.fromOpaque($0).takeUnretainedValue().transfer }
    }

    func setCallbacks() {
        for option in Self.contextOptions { set(option, to: Unmanaged.passUnretained(self).toOpaque()) }
        libcurl_easy_set_sockets(easy, sockets)
        libcurl_easy_set_before_look_up(easy) { _, _, context in
            LibcurlHandle.transfer(of: context)?.mustLookUp() == true ? 1 : 0
        }
        libcurl_easy_set_transfer(easy, Int32(CURLOPT_HEADERFUNCTION)) { bytes, size, count, context in
            LibcurlHandle.transfer(of: context)?.receive(line: .init(start: bytes, count: size * count)) ?? 0
        }
        libcurl_easy_set_transfer(easy, Int32(CURLOPT_WRITEFUNCTION)) { bytes, size, count, context in
            LibcurlHandle.transfer(of: context)?.receive(written: .init(start: bytes, count: size * count)) ?? 0
        }
        libcurl_easy_set_transfer(easy, Int32(CURLOPT_READFUNCTION)) { bytes, size, count, context in
            LibcurlHandle.transfer(of: context)?.fill(.init(start: bytes, count: size * count)) ?? CURL_READFUNC_ABORT
        }
        libcurl_easy_set_seek(easy) { context, offset, origin in
            let isRewound = offset == 0 && origin == SEEK_SET && LibcurlHandle.transfer(of: context)?.rewind() ?? false
            return Int32(isRewound ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL)
        }
        libcurl_easy_set_debug(easy) { _, kind, text, count, context in
            if kind == CURLINFO_TEXT { LibcurlHandle.transfer(of: context)?.note(.init(start: text, count: count)) }
            return 0
        }
        libcurl_easy_set_before_sending(easy) { context, host, _, remotePort, port in
            let mayBeSent = LibcurlHandle.transfer(of: context)?.mayBeSent(from: port, to: host, remotePort) ?? false
            return Int32(mayBeSent ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
        }
    }
}
#endif

import Foundation

/// Creates errors about files: `CocoaError`s with the path and the operating system's error.
enum FileFailure {
    static func writing(_ path: String, _ code: POSIXErrorCode = POSIXFile.lastError) -> CocoaError {
        let cocoaCode: CocoaError.Code =
            switch code {
            case .ENOSPC, .EDQUOT: .fileWriteOutOfSpace
            case .EACCES, .EPERM: .fileWriteNoPermission
            case .EROFS: .fileWriteVolumeReadOnly
            case .ENOENT, .ENOTDIR: .fileNoSuchFile
            case .ENAMETOOLONG: .fileWriteInvalidFileName
            default: .fileWriteUnknown
            }
        return error(cocoaCode, path, because: String(cString: strerror(code.rawValue)), POSIXError(code))
    }

    static func reading(_ path: String) -> CocoaError {
        let code = POSIXFile.lastError
        let reason = String(cString: strerror(code.rawValue))
        return error(.fileReadUnknown, path, cannot: "read", because: reason, POSIXError(code))
    }

    static func shortened(_ path: String, to count: Int64) -> CocoaError {
        let reason = "it had more than \(count) bytes when it was to be sent, and has no more now"
        return error(.fileReadUnknown, path, cannot: "read", because: reason, POSIXError(.EIO))
    }

    static func locked(_ path: String) -> CocoaError {
        error(
            .fileLocking,
            path,
            because: "another download is writing it; wait for that one, or choose another destination",
            POSIXError(.EWOULDBLOCK)
        )
    }

    static func notReplaceable(_ path: String) -> CocoaError {
        error(
            .fileWriteFileExists,
            path,
            because: "it is a device, a pipe or a socket, and would be replaced by a file; choose another destination",
            POSIXError(.EEXIST)
        )
    }

    static func notAFile(_ url: URL) -> CocoaError {
        error(
            .fileWriteUnsupportedScheme,
            url.absoluteString,
            because: "it is not a file URL; make one with URL(filePath:)",
            POSIXError(.EINVAL)
        )
    }

    private static func error(
        _ code: CocoaError.Code,
        _ path: String,
        cannot verb: String = "write",
        because reason: String,
        _ underlying: POSIXError
    ) -> CocoaError {
        CocoaError(
            code,
            userInfo: [
                NSFilePathErrorKey: path,
                NSLocalizedDescriptionKey: "Cannot \(verb) \(path): \(reason)",
                NSUnderlyingErrorKey: underlying,
            ]
        )
    }
}

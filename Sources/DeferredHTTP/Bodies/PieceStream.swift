import Foundation

/// A stream of bytes and files, one after the other. It always has bytes ready until its end.
final class PieceStream: InputStream {
    private var pieces: ArraySlice<HTTPBody.Piece>
    private var current: InputStream?
    private var status = Status.notOpen
    private var failure: (any Error)?

    init(_ pieces: [HTTPBody.Piece]) {
        self.pieces = pieces[...]
        super.init(data: Data())
    }

    override var streamStatus: Status { status }
    override var streamError: (any Error)? { failure }
    override var hasBytesAvailable: Bool { status == .open }

    override func open() {
        status = .open
    }

    override func close() {
        current?.close()
        current = nil
        pieces = []
        status = .closed
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        while status == .open {
            guard let stream = current ?? nextStream() else {
                if status == .open { status = .atEnd }
                break
            }
            let read = stream.read(buffer, maxLength: count)
            if read > 0 { return read }
            if read < 0 { fail(stream.streamError) }
            stream.close()
            current = nil
        }
        return status == .error ? -1 : 0
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length count: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    private func nextStream() -> InputStream? {
        guard let piece = pieces.popFirst() else { return nil }
        switch piece {
        case .data(let data): current = InputStream(data: data)
        case .file(let file): current = InputStream(url: file)
        }
        current?.open()
        if current == nil { fail(nil) }
        return current
    }

    private func fail(_ error: (any Error)?) {
        failure = error ?? CocoaError(.fileReadUnknown)
        status = .error
    }
}

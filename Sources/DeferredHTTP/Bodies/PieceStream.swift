import Foundation

/// An input stream over a sequence of bytes and files. It always has bytes ready until its end.
///
/// It overrides all that `InputStream` leaves to its subclasses on Apple's platforms, where URLSession schedules a
/// body's stream in a run loop. Since it never has to wait, there is nothing to schedule.
final class PieceStream: InputStream {
    private var pieces: ArraySlice<HTTPBody.Piece>
    private var current: InputStream?
    private var status = Status.notOpen
    private var failure: (any Error)?
    private weak var observer: (any StreamDelegate)?

    init(_ pieces: [HTTPBody.Piece]) {
        self.pieces = pieces[...]
        super.init(data: Data())
    }

    /// Creates a stream that can't be read.
    convenience init(failing error: any Error) {
        self.init([])
        fail(error)
    }

    override var streamStatus: Status { status }
    override var streamError: (any Error)? { failure }
    override var hasBytesAvailable: Bool { status == .open }

    override var delegate: (any StreamDelegate)? {
        get { observer }
        set { observer = newValue }
    }

    override func property(forKey key: PropertyKey) -> StreamProperty? { nil }

    override func setProperty(_ property: StreamProperty?, forKey key: PropertyKey) -> Bool { false }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    override func open() {
        if status == .notOpen { status = .open }
    }

    override func close() {
        current?.close()
        current = nil
        pieces = []
        status = .closed
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        // A read of zero bytes that asked for zero is not the end of a piece.
        guard count > 0 else { return status == .error ? -1 : 0 }
        while status == .open {
            guard let stream = current ?? nextStream() else { break }
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

    /// Opens the next piece, or returns nil and sets the status: at the end, or if the piece has no stream.
    private func nextStream() -> InputStream? {
        guard let piece = pieces.popFirst() else {
            status = .atEnd
            return nil
        }
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

/// The fields, in order.
extension HTTPHeaders: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }

    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }

    /// The field at a position.
    public subscript(position: Int) -> Field { fields[position] }
}

"""Makes a textual interface of the Linux toolchain fit for an Apple target.

    interface.py MODULE TARGET < linux.swiftinterface > apple.swiftinterface
"""

import re
import sys

module, target = sys.argv[1:]
text = sys.stdin.read()

text = re.sub(r"-target \S+", f"-target {target}", text)
text = text.replace("import Glibc", "import Darwin").replace("Glibc.", "")
for flag in (" -target-min-inlining-version min", " -library-level api"):
    text = text.replace(flag, "")
text = text.replace(" -static ", " ")

# Only Macs start processes.
if module == "Testing" and "macos" not in target:
    text = re.sub(
        r"^(?=[^\n]*\bmacro (?:expect|require)\(\n?\s*processExitsWith)",
        "@available(*, unavailable)\n",
        text,
        flags=re.M,
    )

# The bodies of back-deployed functions call what this build of the interface doesn't show.
if module == "Swift":
    text = re.sub(
        r'@backDeployed\(before: macOS 14.0[^\n]*\n'
        r'(?=@usableFromInline\n@inline\(never\) @_semantics\("unavailable_code_reached"\))',
        "",
        text,
    )
    # The compiler asks for these where Objective-C is enabled.
    text += """
@frozen @unsafe public struct AutoreleasingUnsafeMutablePointer<Pointee> : Swift._Pointer {
  public let _rawValue: Builtin.RawPointer
  @_transparent public init(_ _rawValue: Builtin.RawPointer) { self._rawValue = _rawValue }
}
public func _getErrorEmbeddedNSError<T>(_ x: T) -> Swift.AnyObject? where T : Swift.Error
@available(*, unavailable)
extension Swift.AutoreleasingUnsafeMutablePointer : Swift.Sendable {}
"""
else:
    text = re.sub(r"^(\s*)@backDeployed\([^\n]*\)\n", "", text, flags=re.M)
    text = re.sub(r"@backDeployed\([^()]*\) ?", "", text)

sys.stdout.write(text)

extension Options {
    /// Refuses options that contradict each other, and URLs that can't be downloaded.
    func check() throws(ProgramExit) {
        for url in urls {
            if case .failure(let flaw) = WantedFile(url: url).sent { throw .usage(flaw.line(for: url)) }
        }
        let (data, form, head) = ("--data", "--form", "it asks for the head alone")
        let conflicts: [(option: String, isGiven: Bool, other: String, isOtherGiven: Bool, reason: String)] = [
            (data, !body.data.isEmpty, form, !body.form.isEmpty, "a request has one body"),
            ("--head", wantsHeadOnly, "--request", method != nil, head),
            ("--head", wantsHeadOnly, data, !body.data.isEmpty, head),
            ("--head", wantsHeadOnly, form, !body.form.isEmpty, head),
            ("--head", wantsHeadOnly, "--output", output != nil, head),
            ("--head", wantsHeadOnly, "--checksum", checksum != nil, head),
            ("-o -", printsContents, "--json", isJSON, "both print to standard output"),
            ("-o -", printsContents, "--checksum", checksum != nil, "the contents come before their sum is known"),
            ("--json", isJSON, "--include", showsHead, "its lines have the status"),
            ("--quiet", isQuiet, "--json", isJSON, "it hides the lines"),
            ("--quiet", isQuiet, "--include", showsHead, "it hides the heads"),
            ("--quiet", isQuiet, "--head", wantsHeadOnly, "it hides the head"),
            ("--quiet", isQuiet, "--verbose", isVerbose, "it hides the events"),
        ]
        if let first = conflicts.first(where: { $0.isGiven && $0.isOtherGiven }) {
            throw .usage("\(first.option) can't be combined with \(first.other): \(first.reason); leave one out")
        }
        if (inputs + body.files).count(where: { $0 == "-" }) > 1 {
            throw .usage("standard input can be read once; name a file in one of the places")
        }
        let isSingle = urls.count == 1 && inputs.isEmpty
        if checksum != nil, !isSingle { throw .usage("--checksum is for one file; give one URL and no list") }
        if printsContents, !isSingle { throw .usage("-o - is for one file; give one URL and no list") }
        if urls.isEmpty, inputs.isEmpty, let output, output.contains("://") {
            let url = PrintableText.url(output)
            throw .usage("\"\(url)\" after --output is a URL, and there is no other; put the name of a file before it")
        }
        if isDigest, user == nil { throw .usage("--digest needs a name and a password; give them with --user") }
        if urls.isEmpty, inputs.isEmpty, method != nil || !body.isEmpty || wantsHeadOnly {
            throw .usage("there is no URL to send a request to; give one")
        }
    }
}

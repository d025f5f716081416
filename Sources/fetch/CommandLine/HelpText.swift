/// What `--help` prints.
enum HelpText {
    static let usage = "fetch [--output DIR] [--max N] URL…"

    static let text = """
        Usage: \(usage)

        Downloads files in parallel, with one progress bar a file and a total line.
        Without URLs it shows itself: it starts a server on 127.0.0.1 that has four
        files of different sizes and speeds, and downloads those.

        Options:
          -o, --output DIR  Put the files into DIR, which is created if necessary.
                            Default: the current directory; for the demonstration,
                            a new temporary one.
          -m, --max N       Download at most N files at a time, \(limits). Default: \(defaults.maximum).
          -h, --help        Print this text and exit.
          --                Take everything after this as URLs.

        URLs are absolute and begin with http:// or https://. A URL given twice is
        downloaded once. User names and passwords in URLs are never printed.

        Names. A file is named after the last part of its URL's path, or index.html
        where there is none. Characters that no name should have become "_". Files
        that would have the same name get a mark made from their URL into it, the
        same one on every run. A complete file of that name is replaced.

        Resuming. What has arrived of a file lies in NAME.partial, and in
        NAME.partial.validator what tells whether the server still has the same file.
        Run the same command again to go on from there. Files that the server has
        changed in the meantime start over.

        Retrying. Failures that may pass (no connection, a body cut short, a time-out,
        status 408, 429 or 5xx) are tried \(RetryPolicy.standard.attempts) times in all, with growing waits
        between. Others, such as status 404, fail at once.

        Stopping. Ctrl-C ends all downloads and keeps what can be resumed. A second
        Ctrl-C does not wait for that.

        Without a terminal on standard output, or with TERM=dumb, each finished file
        is one line, and nothing else is printed there. NO_COLOR turns colours off.

        Exit status:
          0    All files are complete.
          1    Some failed: one line each on standard error says why. The others are
               complete.
          2    The command line could not be understood.
          130  Stopped by Ctrl-C (129 when the terminal closed, 143 by SIGTERM).

        Examples:
          fetch https://example.com/a.iso https://example.com/b.iso
          fetch --output downloads --max 2 https://example.com/{1,2,3}.tar.gz

        """

    private static let defaults = Options()
    private static let limits = "\(Options.downloadLimits.lowerBound) to \(Options.downloadLimits.upperBound)"
}

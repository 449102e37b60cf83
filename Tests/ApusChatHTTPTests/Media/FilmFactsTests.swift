import Testing

@testable import ApusChatHTTP

@Suite struct FilmFactsTests {
    private static func facts(_ streams: String, duration: String = "2.5") -> FilmFacts? {
        FilmFacts(Array(#"{"streams":[\#(streams)],"format":{"duration":"\#(duration)"}}"#.utf8))
    }

    @Test func aFilmHasASizeAndADuration() {
        let facts = Self.facts(#"{"codec_type":"audio"},{"codec_type":"video","width":640,"height":360}"#)
        #expect(facts?.hasPictures == true && facts?.width == 640 && facts?.height == 360 && facts?.duration == 2_500)
    }

    @Test(arguments: [(90, 360), (-90, 360), (180, 640), (0, 640), (270, 360)]) func aTurnedFilmIsMeasuredAsShown(turn: Int, width: Int64) {
        let facts = Self.facts(#"{"codec_type":"video","width":640,"height":360,"side_data_list":[{"rotation":\#(turn)}]}"#)
        #expect(facts?.width == width)
    }

    @Test func aRecordingHasNoPictures() {
        let facts = Self.facts(#"{"codec_type":"audio"}"#)
        #expect(facts?.hasPictures == false && facts?.width == 0 && facts?.duration == 2_500)
    }

    @Test(arguments: ["-1", "nan", "inf", "1e400", "x", "N/A", ""]) func anInvalidDurationIsUnknown(text: String) {
        let duration = Self.facts(#"{"codec_type":"audio"}"#, duration: text)?.duration
        #expect(duration == 0 || duration == 86_400_000)
    }

    @Test(arguments: ["", "{}", "[]", "null", #"{"streams":[]}"#, #"{"streams":{}}"#, #"{"streams":[{"codec_type":"data"}]}"#])
    func outputWithoutStreamsIsNil(text: String) { #expect(FilmFacts(Array(text.utf8)) == nil) }
}

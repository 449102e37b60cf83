import Testing

@testable import ApusChatServer

@Suite struct LegacyPicturesTests {
    private func picture(_ count: Int) -> LegacyPictures.Picture { .init(bytes: [UInt8](repeating: 1, count: count), type: "image/png") }

    @Test func aPictureDisappearsAfterItsTime() {
        var pictures = LegacyPictures(lifetime: 100)
        #expect(pictures.add(self.picture(3), id: "a", at: 1_000) == "images/a.png")
        #expect(pictures.picture(named: "a.png", at: 1_099) == self.picture(3))
        #expect(pictures.picture(at: "images/a.png", at: 1_099) == self.picture(3))
        #expect(pictures.picture(named: "a.jpg", at: 1_099) == nil)
        #expect(pictures.picture(named: "a.png", at: 1_100) == nil)
    }

    @Test func aClockThatIsSetBackKeepsNoPictureForever() {
        var pictures = LegacyPictures(lifetime: 100)
        _ = pictures.add(self.picture(3), id: "a", at: 1_000)
        #expect(pictures.picture(named: "a.png", at: 10) == nil)
    }

    @Test func theSizeOfAllPicturesIsBounded() {
        var pictures = LegacyPictures(maximumBytes: 10, lifetime: 100)
        #expect(pictures.add(self.picture(10), id: "a", at: 0) != nil)
        #expect(pictures.add(self.picture(1), id: "b", at: 50) == nil)
        #expect(pictures.add(self.picture(10), id: "c", at: 100) != nil)
        #expect(pictures.add(self.picture(1), id: "d", at: 199) == nil)
        #expect(pictures.add(self.picture(10), id: "e", at: 200) != nil)
        #expect(pictures.add(self.picture(LegacyPictures.pictureBytes + 1), id: "f", at: 300) == nil)
    }
}

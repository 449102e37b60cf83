import Foundation

/// The map picture that the apps expect for a location: a plain grid with a pin, 400 × 200 pixels.
/// The server uses no map service, because its requests would reveal the locations of users.
enum LegacyMap {
    static let picture: [UInt8] = Data(base64Encoded: text).map(Array.init) ?? []

    private static let text = """
        iVBORw0KGgoAAAANSUhEUgAAAZAAAADIAgMAAAC7e19xAAAADFBMVEXo7uTS2s7ZOzD///8SYZpUAAAA/UlEQVR42u3ZsQ3CMBAA\
        QCslo2QKloB5GCUNUmSGYB9GoDEElNBGkd5Kwrn67uSXP/530qnCSsc0rrgIAoFAIBAIBAKBQCCQP0DM8RAIBAKBQCAQCCQEucQj\
        Tc5dONLmnKOR90Z+W4lCDgPSByNDtqZ8RSEfI1+2jzRfpAud489f5Bo6xw+H6zEdr6B0vZF7qYCU8oDMjNp8K+U5lrx0rQSpUifx\
        Fb/wA7lCZD+XVp07vkq3UqXvqtJBDvnqIesaHaogaap3yJyozQkyPzr0e0GaDrKyB5w9IQse1fyPh0AgEAgEAoFAIBAIZDuIOR4C\
        gUAgEAgEAoFAIJDNIC/93hE4KJRkygAAAABJRU5ErkJggg==
        """
}

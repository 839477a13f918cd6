enum EnglishVariables { static let all: [String: String] = [:] }

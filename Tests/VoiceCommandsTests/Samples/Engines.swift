import SherpaOnnxRecognition
import SpeechPipeline
import VoiceCore

func recognisers(library path: String, model folder: String) throws(VoiceFailure) -> RecognizerPool {
  let engine = try SherpaOnnxEngine(library: path, modelFolder: folder, language: "en-US")
  return RecognizerPool(engine: engine, size: 4)
}

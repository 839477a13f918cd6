print("voice")

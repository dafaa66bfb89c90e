"""placeholder"""
def main() -> None:
    print("ok")

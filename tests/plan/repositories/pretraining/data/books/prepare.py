import urllib.request

if __name__ == "__main__":
    urllib.request.urlretrieve("https://example.org/books.txt", "books.txt")

import pickle


class Tokenized:
    def __init__(self, ids):
        self.ids = ids


class Abort:
    def __init__(self, rid):
        self.rid = rid


def sock_send(socket, message):
    if isinstance(message, bytes):
        socket.send(message)
        return
    socket.send_pyobj(message)


def sock_recv(socket):
    return socket.recv_pyobj()


def save(path, message):
    """No socket: nobody receives what is written."""
    out = open(path, "wb")
    out.write(pickle.dumps(message))

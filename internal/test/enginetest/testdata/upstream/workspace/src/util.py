def clean(name):
    return name.strip()  # todo: unicode

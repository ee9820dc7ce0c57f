"""A receiver with Django, as docs/guides/start-python.md has it. It listens at 127.0.0.1:$PORT."""

import os
import sys
from pathlib import Path
from wsgiref.simple_server import make_server

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
from partner_deposits import SignatureError, unwrap  # noqa: E402


@csrf_exempt
@require_POST
def deposits(request):
    try:
        event = unwrap(request.body, request.headers, os.environ["WEBHOOK_SECRET"])
    except SignatureError as error:
        return HttpResponse(error.reason, status=400)
    print("verified", event.event, file=sys.stderr, flush=True)
    return HttpResponse(status=204)


urlpatterns = [path("hooks/deposits", deposits)]

if __name__ == "__main__":
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"])
    django.setup()
    make_server("127.0.0.1", int(os.environ["PORT"]), get_wsgi_application()).serve_forever()

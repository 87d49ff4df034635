# mypy: ignore-errors
"""A FastAPI application as users write them for the edge."""

import asyncio
from contextlib import asynccontextmanager
from typing import Annotated

import asgi
from fastapi import BackgroundTasks, FastAPI, Form, HTTPException, Request, UploadFile
from fastapi.responses import PlainTextResponse, RedirectResponse, StreamingResponse
from pydantic import BaseModel
from workers import WorkerEntrypoint


@asynccontextmanager
async def lifespan(app):
    app.state.n = 1
    yield {"from_lifespan": 2}


app = FastAPI(lifespan=lifespan)


class Item(BaseModel):
    name: str
    price: float = 1.0


@app.get("/")
async def root(req: Request):
    return {
        "message": "hi",
        "name": req.scope["env"].NAME,
        "state": [req.app.state.n, req.state.from_lifespan],
        "url": str(req.url),
        "client": req.client,
    }


@app.get("/sync")
def sync_route(q: int = 3):
    return {"q": q}


@app.post("/items")
async def make(item: Item, req: Request):
    env = req.scope["env"]
    await env.KV.put(item.name, item.model_dump_json())
    return {"item": item, "stored": await env.KV.get(item.name, "json")}


@app.post("/form")
async def form(a: Annotated[str, Form()], b: Annotated[int, Form()] = 2):
    return [a, b]


@app.post("/file")
async def file(f: UploadFile):
    return [f.filename, f.content_type, (await f.read()).decode()]


@app.get("/stream")
async def stream():
    async def gen():
        for n in range(3):
            yield f"{n}\n"
            await asyncio.sleep(0.01)

    return StreamingResponse(gen(), media_type="text/plain")


@app.get("/error")
async def error():
    raise HTTPException(418, "teapot", headers={"x-own": "1"})


@app.get("/crash")
async def crash():
    raise ValueError("crash")


@app.get("/bg")
async def bg(tasks: BackgroundTasks, req: Request):
    env = req.scope["env"]

    async def later():
        await env.KV.put("bg", "done")

    tasks.add_task(later)
    return "ok"


@app.get("/redirect")
async def redirect():
    return RedirectResponse("/sync")


@app.get("/cookie")
async def cookie():
    r = PlainTextResponse("c")
    r.set_cookie("a", "1")
    r.set_cookie("b", "2", httponly=True)
    return r


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await asgi.fetch(app, request.js_object, self.env)
